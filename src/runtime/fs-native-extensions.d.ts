// What is used of it; the package brings no types.
declare module 'fs-native-extensions' {
  /** False: another open file description has a lock on the file. */
  export function tryLock(descriptor: number, offset?: number, length?: number): boolean
}
