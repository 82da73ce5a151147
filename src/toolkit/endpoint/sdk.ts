// The SDK is loaded when it is first needed, and then kept: asking the module loader again costs more than a request.
export type Sdk = typeof import('@aws-sdk/client-dynamodb')

const kept: { sdk?: Promise<Sdk> } = {}

export function loadSdk(): Promise<Sdk> {
  kept.sdk ??= import('@aws-sdk/client-dynamodb').catch((error: unknown) => {
    // Whoever comes next may have installed it.
    delete kept.sdk
    throw error
  })
  return kept.sdk
}
