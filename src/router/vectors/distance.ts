// How far vectors are from one that is searched for. Scores have 32 bits, as the index of the service has.
import type { VectorShape } from '../../model/table.js'

/** The score of another vector of the same length. */
export function distanceTo(
  wanted: Float32Array,
  kind: VectorShape['distance'],
): (vector: Float32Array) => number {
  switch (kind) {
    case 'DOT_PRODUCT':
      return (vector) => Math.fround(dotProduct(wanted, vector))
    case 'EUCLIDEAN':
      return (vector) => Math.fround(Math.sqrt(squaredDistance(wanted, vector)))
    case 'COSINE': {
      const length = Math.sqrt(dotProduct(wanted, wanted))
      return (vector) => {
        const lengths = length * Math.sqrt(dotProduct(vector, vector))
        // A vector of zeros has no direction: it is as far as one at a right angle.
        return Math.fround(lengths === 0 ? 1 : 1 - dotProduct(wanted, vector) / lengths)
      }
    }
  }
}

function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) {
    const difference = a[at]! - b[at]!
    sum += difference * difference
  }
  return sum
}
