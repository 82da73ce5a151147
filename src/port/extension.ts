/** Before the names of operations that are Seriatim's own and not DynamoDB's, in the target of a request. */
export const EXTENSION_PREFIX = 'Seriatim_20261101.'
