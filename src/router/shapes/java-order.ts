// The order in which DynamoDB lists names that it keeps in a hash set of Java's: by bucket, and within one as they came.

const CAPACITY_MIN = 16
const LOAD = 0.75

export function javaSetOrder(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)]
  let capacity = CAPACITY_MIN
  while (distinct.length > capacity * LOAD) capacity *= 2
  const bucket = (name: string): number => {
    const hash = hashOf(name)
    return (hash ^ (hash >>> 16)) & (capacity - 1)
  }
  return distinct.toSorted((a, b) => bucket(a) - bucket(b))
}

function hashOf(name: string): number {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0
  return hash
}
