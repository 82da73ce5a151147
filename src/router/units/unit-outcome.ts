import { EXTENSION_PREFIX } from '../../port/extension.js'
import { tokenOutcome } from '../transactions/client-tokens.js'
import { type Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'

/** For a client whose commit was never answered. */
export const unitOutcome: Operation = {
  name: 'UnitOutcome',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: { ClientRequestToken: { kind: 'string', required: true, lengthMin: 1, lengthMax: 36 } },
  },

  async run(context, input, scope) {
    const outcome = await tokenOutcome(context, scope, input['ClientRequestToken'] as string)
    return jsonReply({ Outcome: outcome.toUpperCase() })
  },
}
