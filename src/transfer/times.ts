// Times as the manifests of exports have them.

export const isoTime = (micros: number): string => new Date(Math.floor(micros / 1000)).toISOString()

/** Undefined: no time. */
export function microsOf(iso: unknown): number | undefined {
  const milliseconds = typeof iso === 'string' ? Date.parse(iso) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : milliseconds * 1000
}
