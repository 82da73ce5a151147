// Every bound of the data model and the wire, in one place. Sources: DynamoDB's documentation of service quotas.
export const limits = {
  itemBytesMax: 400 * 1024,
  partitionKeyBytesMax: 2048,
  sortKeyBytesMax: 1024,
  /** Levels of lists and maps inside one attribute. */
  nestingDepthMax: 32,
  numberDigitsMax: 38,
  /** As a client writes it, with zeros that carry no value; the longest that needs none has about 170. Not DynamoDB's. */
  numberCharactersMax: 1024,
  expressionBytesMax: 4096,
  expressionOperatorsMax: 300,
  inOperandsMax: 100,
  statementCharactersMax: 8192,
  /** Key values that one SELECT may name: each is a read of its own. */
  statementReadsMax: 50,
  batchStatementsMax: 25,
  /** Parts that `contains` seeks in one expression and that are longer than 250 characters, or may be. Not DynamoDB's. */
  longSearchesMax: 10,
  pageBytesMax: 1024 * 1024,
  batchGetKeysMax: 100,
  batchGetBytesMax: 16 * 1024 * 1024,
  /** Of an answer that ends at so many bytes, no more items are read at once. */
  readAtOnceMax: 25,
  batchWriteItemsMax: 25,
  transactionActionsMax: 100,
  transactionBytesMax: 4 * 1024 * 1024,
  /** Of stored items that the conditions and updates of one transaction look at, at one node. Not DynamoDB's. */
  lookedAtBytesMax: 16 * 1024 * 1024,
  /** Of the texts of items that a cancelled transaction answers with; further ones are left out. Not DynamoDB's. */
  cancelledItemBytesMax: 16 * 1024 * 1024,
  requestBytesMax: 16 * 1024 * 1024,
  globalIndexesMax: 20,
  localIndexesMax: 5,
  /** HASH attributes of a global index, and RANGE attributes, each. */
  indexKeyPartsMax: 4,
  vectorIndexesMax: 5,
  dimensionsMax: 4096,
  searchResultsMax: 100,
  /** Of all INCLUDE projections of a table together. */
  projectedAttributesMax: 100,
  segmentsMax: 1_000_000,
  tagsMax: 50,
} as const
