// What a command that asks an endpoint says of an error: where it was met.
import { surfaced } from '../../toolkit/endpoint/refusals.js'

/** For promises. A missing table is missing somewhere; whatever else was met says so itself. */
export const atEndpoint =
  (endpoint: string) =>
  (error: unknown): never => {
    const met = surfaced(error)
    if (met instanceof Error && met.name === 'ResourceNotFoundException') met.message += ` (at ${endpoint})`
    throw met
  }
