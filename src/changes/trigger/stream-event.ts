// What a handler of Lambda gets and gives, as @types/aws-lambda describes it.

/** The types of attributes, each with how an event has its values. */
export interface StreamEventTypes {
  /** A string. */
  S: string
  /** A number, as text. */
  N: string
  /** A binary, in base64. */
  B: string
  /** A boolean. */
  BOOL: boolean
  /** True: null. */
  NULL: boolean
  /** A set of strings. */
  SS: string[]
  /** A set of numbers, as texts. */
  NS: string[]
  /** A set of binaries, in base64. */
  BS: string[]
  /** A list. */
  L: StreamEventValue[]
  /** A map. */
  M: { [name: string]: StreamEventValue }
}

/** An attribute value in an event: exactly one of these members. */
export type StreamEventValue = {
  [Type in keyof StreamEventTypes]: { [Member in Type]: StreamEventTypes[Member] } & {
    [Member in Exclude<keyof StreamEventTypes, Type>]?: never
  }
}[keyof StreamEventTypes]

/** One change of one item, as Lambda hands it to a handler. */
export interface StreamEventRecord {
  /** The same for the same change, however often it is delivered. */
  eventID: string
  /** What became of the item. */
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  /** Of the form of records: `1.1`. */
  eventVersion: string
  /** `aws:dynamodb`. */
  eventSource: string
  /** `us-east-1`. */
  awsRegion: string
  /** Of the stream. */
  eventSourceARN: string
  /** The change itself. */
  dynamodb: {
    /** In seconds since 1970. */
    ApproximateCreationDateTime: number
    /** The key of the item. */
    Keys: { [name: string]: StreamEventValue }
    /** The item after, if there is one and the stream keeps it. */
    NewImage?: { [name: string]: StreamEventValue }
    /** The item before, if there was one and the stream keeps it. */
    OldImage?: { [name: string]: StreamEventValue }
    /** Where the change stands in the order of all commits. */
    SequenceNumber: string
    /** Of the key and the images. */
    SizeBytes: number
    /** Which images the stream keeps. */
    StreamViewType: 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'
  }
  /** Of a delete by time to live: `{ principalId: 'dynamodb.amazonaws.com', type: 'Service' }`. */
  userIdentity?: { principalId: string; type: string }
}

/** The event of one invocation. */
export interface StreamEvent {
  /** In order. */
  Records: StreamEventRecord[]
}

/** With `reportBatchItemFailures`: the records that failed. Everything from the first of them on is delivered again. */
export interface StreamBatchResponse {
  /** Each by its sequence number; an empty list: all are done. */
  batchItemFailures: { itemIdentifier: string }[]
}

/** What a handler is told beside its event: the context object of Lambda. */
export interface HandlerContext {
  /** Has no effect: an invocation ends with its answer. */
  callbackWaitsForEmptyEventLoop: boolean
  /** The option `functionName`. */
  functionName: string
  /** `$LATEST`. */
  functionVersion: string
  /** Made up of the name. */
  invokedFunctionArn: string
  /** `128`, which nothing enforces. */
  memoryLimitInMB: string
  /** A new one for each invocation. */
  awsRequestId: string
  /** Made up of the name. */
  logGroupName: string
  /** Made up of the date. */
  logStreamName: string
  /** Until the invocation counts as failed. */
  getRemainingTimeInMillis(): number
  /** As the callback. */
  done(error?: Error, result?: unknown): void
  /** Ends the invocation with an error. */
  fail(error: Error | string): void
  /** Ends the invocation with an answer. */
  succeed(result?: unknown): void
}

/** A function as it is deployed to Lambda: async, or with a callback as its third parameter. */
export type StreamHandler = (
  event: StreamEvent,
  context: HandlerContext,
  callback: (error?: Error | string | null, result?: unknown) => void,
) => unknown

/** What Lambda sends to the destination of failed records. */
export interface FailureDocument {
  /** Why the records were given up. */
  requestContext: {
    /** A random id. */
    requestId: string
    /** Made up of the name of the function. */
    functionArn: string
    /** What was reached: `retries` or `maximumRecordAgeMs`. */
    condition: 'RetryAttemptsExhausted' | 'RecordAgeExceeded'
    /** How often the handler was called with them. */
    approximateInvokeCount: number
  }
  /** Absent if the handler was not called with these records. `functionError` is null if it reported them as failed, and threw nothing. */
  responseContext?: { statusCode: number; executedVersion: string; functionError: 'Unhandled' | null }
  /** Of this document: `1.0`. */
  version: string
  /** When they were given up. */
  timestamp: string
  /** Which records they are. */
  DDBStreamBatchInfo: {
    /** Of the first record. */
    shardId: string
    /** Of the first record. */
    startSequenceNumber: string
    /** Of the last record. */
    endSequenceNumber: string
    /** When the first was committed. */
    approximateArrivalOfFirstRecord: string
    /** When the last was committed. */
    approximateArrivalOfLastRecord: string
    /** How many. */
    batchSize: number
    /** Of the stream. */
    streamArn: string
  }
}
