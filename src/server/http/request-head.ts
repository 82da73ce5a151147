// What has arrived of a request before its body.

/** The headers that decide how a request is answered, but for those of a signature. */
export type NeededHeader =
  | 'host'
  | 'authorization'
  | 'content-type'
  | 'content-encoding'
  | 'accept-encoding'
  | 'x-amz-target'
  | 'origin'
  | 'sec-fetch-site'
  | 'if-none-match'
  | 'x-seriatim-fault'
  | 'access-control-request-headers'

/**
 * At least the needed headers, their names in lower case. All of them where signatures are checked, so that a reader that
 * keeps no more than the needed ones is of no use there.
 */
export type RequestHeaders = Readonly<Partial<Record<NeededHeader, string | string[] | undefined>>>

export interface RequestHead {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: RequestHeaders
}
