// The manifest of a backup: which files belong to a snapshot, and their hashes. A snapshot consists of its own folder with
// databases and small files, and of blobs in a pool that all snapshots of the same folder share. This file is pure.

import * as z from 'zod'
import { compareVersions } from './folder-mark.ts'

export const FileFacts = z.object({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })
export type FileFacts = z.infer<typeof FileFacts>

/** A path below a folder, without a way out of it. */
const Path = z.string().regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[^/\\\0][^\\\0]*$/, 'must be a path below the folder')

const BackupManifest = z.object({
  /** Of the program that made the backup. */
  version: z.string(),
  /** Moment of all databases, Unix ms. */
  atMs: z.number(),
  /** By path in the state folder; stored in the snapshot's folder. */
  files: z.record(Path, FileFacts),
  /** By path in the state folder; stored in the pool. */
  blobs: z.record(Path, FileFacts),
})
export type BackupManifest = z.infer<typeof BackupManifest>

/** Null if the text is not the whole manifest of a backup. */
export function parseManifest(json: unknown): BackupManifest | null {
  const read = BackupManifest.safeParse(json)
  return read.success ? read.data : null
}

/** Name of a snapshot's folder, in which names are ordered by time. */
export function snapshotName(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(':', '-')
}

export const SNAPSHOT_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/

/** Why this version cannot restore the backup. Null: it can. */
export function restoreFault(manifest: BackupManifest, version: string): string | null {
  return compareVersions(manifest.version, version) > 0
    ? `was made by Weir ${manifest.version}, and this is ${version}. Install ${manifest.version} or newer.`
    : null
}
