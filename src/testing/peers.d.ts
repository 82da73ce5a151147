// What is used of vitest and jest, which are not installed here: each comes from the project that uses its preset.
declare module 'vitest' {
  export function afterAll(run: () => Promise<void>): void
  export function beforeEach(run: () => Promise<void>): void
  export function inject(key: string): unknown
}

declare module 'jest-environment-node' {
  export class TestEnvironment {
    constructor(config: unknown, context: unknown)
    readonly global: Record<string, unknown> & {
      readonly process: { readonly env: Record<string, string | undefined> }
    }
    setup(): Promise<void>
    teardown(): Promise<void>
  }
}
