/** What was to be verified is not true, or cannot be read. The message says what and where. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError'
}
