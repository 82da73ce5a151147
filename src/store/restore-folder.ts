// Restores the tables of a data folder to one moment, into another folder: offline, without a server.
import { localPlacement } from '../coordinator/placement.js'
import { restoredTable } from '../router/backups/restored-table.js'
import type { RestoreMoment } from '../router/backups/table-backups.js'
import { allRules } from '../rules/item/section-4.js'
import { LoopYield } from '../runtime/loop-yield.js'
import { realRuntime } from '../runtime/real-runtime.js'
import { openNodesWithLog } from '../storage/folder/open-local-node.js'
import { backupFilesOf } from './store-backups.js'
import { openContent, type StoreContent } from './store-content.js'

export interface RestoreFolderOptions {
  readonly path: string
  /** Created; the caller has seen to it that nothing is in it. */
  readonly to: string
  readonly moment: RestoreMoment
  /** Absent: all of the folder. */
  readonly tables?: readonly string[]
}

export interface RestoredFolder {
  readonly tables: readonly string[]
  readonly atMicros: number
}

/** @throws if one of the tables cannot be restored to that moment, or if it fails: then `to` is of no use */
export async function restoreFolder(options: RestoreFolderOptions): Promise<RestoredFolder> {
  const runtime = realRuntime()
  const errors: unknown[] = []
  const { content: source, nodes } = await openFolder(options.path, errors)
  try {
    const names = options.tables ?? source.catalog.names()
    const backups = await source.backups.open()
    // Until the folder is closed: nobody writes to it.
    const { at, tables } = await backups.readAt(options.moment, names)
    const { content: target } = await openFolder(options.to, errors, nodes)
    try {
      const loaded = tables.map((table) => ({
        ...table,
        target: {
          newRecord: (draft: Parameters<typeof restoredTable>[0]) =>
            restoredTable(
              draft,
              { runtime },
              {
                targetName: table.source.name,
                source: table.source,
                overrides: {},
                from: { tableName: table.source.name, atMicros: at },
              },
            ),
        },
      }))
      await (await target.backups.open()).takeIn(loaded, at)
      await target.idle()
      if (errors.length > 0) throw errors[0]
    } finally {
      await target.close()
    }
    return { tables: names, atMicros: at }
  } finally {
    await source.close()
  }
}

async function openFolder(
  path: string,
  errors: unknown[],
  nodes?: number,
): Promise<{ readonly content: StoreContent; readonly nodes: number }> {
  const runtime = realRuntime()
  const onError = (error: unknown): void => void errors.push(error)
  const opened = await openNodesWithLog({
    runtime,
    path,
    onTrouble: onError,
    ...(nodes !== undefined && { nodes }),
  })
  const content = await openContent(
    {
      runtime,
      ...opened,
      placement: localPlacement(opened.nodes.length),
      rules: allRules,
      sharedJournal: true,
      isSoleOwner: true,
      backupFiles: () => backupFilesOf({ path }),
      onError,
    },
    new LoopYield(runtime),
  )
  return { content, nodes: opened.nodes.length }
}
