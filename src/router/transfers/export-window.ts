// Which moment, or which time, an export is of.
import { DynamoError, validationError } from '../../model/errors.js'
import type { ExportView } from '../../transfer/transfer.js'
import type { ExportWindow } from '../../transfer/manifest.js'

export interface WindowInput {
  /** In seconds, as all times of requests. */
  readonly ExportTime?: number
  readonly ExportType?: 'FULL_EXPORT' | 'INCREMENTAL_EXPORT'
  readonly IncrementalExportSpecification?: {
    readonly ExportFromTime?: number
    readonly ExportToTime?: number
    readonly ExportViewType?: ExportView
  }
}

export interface WindowBounds {
  readonly nowMicros: number
  /** Of the first moment that can be told. */
  readonly earliestMicros: number
}

export const windowLimits = {
  incrementalMicrosMin: 15 * 60 * 1_000_000,
  incrementalMicrosMax: 24 * 3600 * 1_000_000,
} as const

const SECOND_MICROS = 1_000_000

export function exportWindow(input: WindowInput, { nowMicros, earliestMicros }: WindowBounds): ExportWindow {
  const { ExportTime, ExportType, IncrementalExportSpecification: specification } = input
  const refuse = (message: string): never => {
    throw new DynamoError('InvalidExportTimeException', message)
  }
  // Clients say whole seconds: the one that has begun is over soon enough to be meant.
  const within = (name: string, at: number): number => {
    if (at > nowMicros + SECOND_MICROS)
      return refuse(`${name} is in the future: Export Time must be in the past`)
    if (at < earliestMicros - SECOND_MICROS)
      return refuse(`${name} is before the earliest Export Time, ${earliestMicros / SECOND_MICROS}`)
    return Math.min(Math.max(at, earliestMicros), nowMicros)
  }
  if (ExportType !== 'INCREMENTAL_EXPORT') {
    if (specification !== undefined)
      throw validationError('IncrementalExportSpecification needs ExportType INCREMENTAL_EXPORT')
    const atMicros = ExportTime === undefined ? nowMicros : within('ExportTime', ExportTime * SECOND_MICROS)
    return { type: 'FULL_EXPORT', atMicros }
  }
  if (ExportTime !== undefined) throw validationError('ExportTime cannot be given for an incremental export')
  if (specification?.ExportFromTime === undefined)
    throw validationError(
      'IncrementalExportSpecification with ExportFromTime is needed for an incremental export',
    )
  const fromMicros = specification.ExportFromTime * SECOND_MICROS
  const toMicros =
    specification.ExportToTime === undefined ? nowMicros : specification.ExportToTime * SECOND_MICROS
  if (toMicros <= fromMicros) return refuse('ExportToTime must be after ExportFromTime')
  const lasts = toMicros - fromMicros
  if (lasts < windowLimits.incrementalMicrosMin)
    return refuse('Difference between export period from time and to time is less than 15 minutes')
  if (lasts > windowLimits.incrementalMicrosMax)
    return refuse('Difference between export period from time and to time is more than 24 hours')
  return {
    type: 'INCREMENTAL_EXPORT',
    fromMicros: within('ExportFromTime', fromMicros),
    toMicros: within('ExportToTime', toMicros),
    view: specification.ExportViewType ?? 'NEW_AND_OLD_IMAGES',
  }
}
