// The manifest of an export, written last. Invariant: an export without a whole manifest is refused. This file is pure.

import * as z from 'zod'
import { FileFacts } from '../serve/backup-manifest.ts'
import { compareVersions } from '../serve/folder-mark.ts'

/** Files of an export, which the manifest names. */
export const EXPORT_FILES = { plans: 'plans.json', accounts: 'accounts.jsonl', pipelines: 'pipelines.jsonl' } as const
export const MANIFEST = 'manifest.json'
/** Folder of the archive, in which each object has its name as its path. */
export const ARCHIVE = 'archive'

const ExportManifest = z.object({
  /** Of the program that made the export. */
  version: z.string(),
  /** Unix ms. */
  atMs: z.number(),
  /** The same on gateways with the same KEY_SECRET; null: the gateway had none. */
  keySecretHash: z.string().nullable(),
  /** Whether all pipelines were paused first, so that no row is delivered by both gateways. */
  isStopped: z.boolean(),
  files: z.object({ plans: FileFacts, accounts: FileFacts, pipelines: FileFacts }),
  /** Objects of the archive; 0: it was left out. */
  objects: z.int().min(0),
})
export type ExportManifest = z.infer<typeof ExportManifest>

/** The manifest, or why this version cannot import it. */
export function manifestOf(json: unknown, version: string): ExportManifest | string {
  const read = ExportManifest.safeParse(json)
  if (!read.success) return `has no complete ${MANIFEST}: the export did not finish. Run "npx weir export" again.`
  if (compareVersions(read.data.version, version) > 0)
    return `was made by Weir ${read.data.version}, and this is ${version}. Install ${read.data.version} or newer.`
  return read.data
}

/** An object of the archive that an import reads. The others are made again from these. */
export const isImported = (key: string): boolean =>
  /^archive\/[\w-]+\/(?:\d{4}-\d\d-\d\d\/\d+-\d+\.(?:events|books)|checkpoints\/\d+)\.gz$/.test(key)
