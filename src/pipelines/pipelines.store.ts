// Pipelines in D1. Invariants: a row is found only under its account; a change applies only to the revision it was
// based on; an account has a limited number and size of pipelines, and a key restricted to its own pipelines gets only
// a share of that.

import { batchOf } from '../core/d1.store.ts'
import type { AccountId } from '../core/ids.ts'
import { MAX_PIPELINES, type PipelineRow, type RawPipelineRow, ROW_COLUMNS, rowOf } from './pipeline-row.ts'

/** Maximum total size of an account's pipelines, in bytes. */
export const MAX_BYTES = 8_000_000
/**
 * Maximum wallets whose orders the pipelines of an account need, including paused pipelines. Feeders watch a limited
 * number of wallets.
 */
export const MAX_WALLETS = 5_000
/**
 * Maximum pipelines of signed actions, per account and in total, including paused pipelines. Whatever its filter, each
 * reads all actions from the log, a megabyte per second, and the log serves 16 to all pipelines together.
 */
export const MAX_REPLICA = { account: 3, total: 12 }
/** Share of the account's limits for the rotation chain of a key that is restricted to its own pipelines. */
export const KEY_SHARE = { pipelines: MAX_PIPELINES / 5, bytes: MAX_BYTES / 5, wallets: MAX_WALLETS / 5 }
const walletCount = (fields: string) => `CASE json_extract(${fields}, '$.topic') WHEN 'order_updates'
  THEN coalesce(json_array_length(${fields}, '$.filter.addresses'), 1) ELSE 0 END`
const sumOfOthers = (sum: string, whose = '') =>
  `(SELECT coalesce(sum(${sum}), 0) FROM pipelines WHERE account = ?2 AND id <> ?1 ${whose})`
const isReplica = (fields: string) => `json_extract(${fields}, '$.topic') = 'replica_cmds'`
const HAS_ROOM = `${sumOfOthers('bytes')} + ?3 <= ${MAX_BYTES}
  AND ${sumOfOthers(walletCount('fields'))} + ${walletCount('?4')} <= ${MAX_WALLETS}`
/** The topic of a pipeline never changes. */
const HAS_REPLICA_ROOM = `(NOT ${isReplica('?4')}
  OR (${sumOfOthers(isReplica('fields'))} < ${MAX_REPLICA.account}
    AND (SELECT count(*) FROM pipelines WHERE ${isReplica('fields')}) < ${MAX_REPLICA.total}))`
/** `root`: parameter with the root of the rotation chain. */
const shareOf = (root: string) => {
  const own = `AND payer_root = ${root}`
  return {
    count: `${sumOfOthers('1', `${own} AND backfill_of IS NULL`)} < ${KEY_SHARE.pipelines}`,
    bytes: `${sumOfOthers('bytes', own)} + ?3 <= ${KEY_SHARE.bytes}`,
    wallets: `${sumOfOthers(walletCount('fields'), own)} + ${walletCount('?4')} <= ${KEY_SHARE.wallets}`,
  }
}
const INSERT_SHARE = shareOf('?14')
const UPDATE_SHARE = shareOf('?13')

export class PipelineStore {
  readonly #db: D1Database

  constructor(db: D1Database) {
    this.#db = db
  }

  /**
   * Returns false and stores nothing if the account, or the share of the rotation chain with root `share`, is
   * exhausted, or the pipeline of a backfill has one already or is deleted. `share` is null if no share applies. A backfill counts with its
   * pipeline.
   */
  async add(row: PipelineRow, share: string | null): Promise<boolean> {
    const { id, account, sealed, creator, creatorName, revision, createdMs, backfillOf, backfillRequest } = row
    const insert = `INSERT INTO pipelines
      (id, account, bytes, fields, sealed, creator, creator_name, revision, told, created, updated,
      payer, payer_name, payer_root, destination_root, backfill_of, backfill_request)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?9, ?10, ?11, ?12, ?13, ?15, ?16
      WHERE (?15 IS NOT NULL OR (SELECT count(*) FROM pipelines WHERE account = ?2 AND backfill_of IS NULL) < ${MAX_PIPELINES})
        AND (?15 IS NULL OR EXISTS (SELECT 1 FROM pipelines WHERE id = ?15 AND account = ?2 AND removed IS NULL))
        AND ${HAS_ROOM} AND ${HAS_REPLICA_ROOM}
        AND (?14 IS NULL OR ((?15 IS NOT NULL OR ${INSERT_SHARE.count}) AND ${INSERT_SHARE.bytes} AND ${INSERT_SHARE.wallets}))
      ON CONFLICT DO NOTHING`
    const { fields, bytes } = encodedFields(row)
    const made = [id, account, bytes, fields, sealed, creator, creatorName, revision, createdMs]
    return this.#hasChanged(insert, ...made, ...payerColumns(row), share, backfillOf, backfillRequest)
  }

  /**
   * Returns false and stores nothing if the row is gone or not at revision `from`, or the account or share is
   * exhausted. The share does not block changes that need no more room than the pipeline already has. Backfilled ranges of
   * another chain are forgotten.
   */
  async update(row: PipelineRow, from: number, share: string | null): Promise<boolean> {
    const { id, account, sealed, revision, updatedMs } = row
    const update = `UPDATE pipelines SET bytes = ?3, fields = ?4, sealed = ?5, revision = ?6, updated = ?7,
      payer = ?9, payer_name = ?10, payer_root = ?11, destination_root = ?12,
      backfilled = iif(json_extract(fields, '$.topic') = 'evm_logs'
        AND json_extract(fields, '$.filter') IS NOT json_extract(?4, '$.filter'), '[]', backfilled)
      WHERE id = ?1 AND account = ?2 AND revision = ?8 AND removed IS NULL AND ${HAS_ROOM}
      AND (?13 IS NULL OR ((?3 <= bytes OR ${UPDATE_SHARE.bytes})
        AND (${walletCount('?4')} <= ${walletCount('fields')} OR ${UPDATE_SHARE.wallets})))`
    const { fields, bytes } = encodedFields(row)
    return this.#hasChanged(
      update,
      ...[id, account, bytes, fields, sealed, revision, updatedMs, from],
      ...payerColumns(row),
      share,
    )
  }

  /** Includes deleted pipelines. */
  async get(account: AccountId, id: string): Promise<PipelineRow | null> {
    const select = `SELECT ${ROW_COLUMNS} FROM pipelines WHERE id = ? AND account = ?`
    const row = await this.#db.prepare(select).bind(id, account).first<RawPipelineRow>()
    return row === null ? null : rowOf(row)
  }

  /** The backfill of a pipeline, even if it is deleted and its Sink may not be empty; null: there is none. */
  async backfillOf(account: AccountId, id: string): Promise<PipelineRow | null> {
    const select = `SELECT ${ROW_COLUMNS} FROM pipelines WHERE backfill_of = ? AND account = ?`
    const row = await this.#db.prepare(select).bind(id, account).first<RawPipelineRow>()
    return row === null ? null : rowOf(row)
  }

  /** Returns false and stores nothing if the ranges are no longer `before`. */
  async setBackfilled(
    id: string,
    before: PipelineRow['backfilled'],
    ranges: PipelineRow['backfilled'],
  ): Promise<boolean> {
    const update = 'UPDATE pipelines SET backfilled = ?3 WHERE id = ?1 AND backfilled = ?2'
    return this.#hasChanged(update, id, JSON.stringify(before), JSON.stringify(ranges))
  }

  /** The next pipelines of all accounts by id, without backfills. */
  async after(id: string, limit: number): Promise<PipelineRow[]> {
    const select = `SELECT ${ROW_COLUMNS} FROM pipelines WHERE id > ?1 AND removed IS NULL AND backfill_of IS NULL
      ORDER BY id LIMIT ?2`
    return (await this.#db.prepare(select).bind(id, limit).all<RawPipelineRow>()).results.map(rowOf)
  }

  /** Newest first, without backfills. `root`: only pipelines paid by keys of this rotation chain; null: all pipelines. */
  async list(
    account: AccountId,
    root: string | null,
    from: number,
    limit: number,
  ): Promise<{ rows: PipelineRow[]; total: number }> {
    const own =
      'FROM pipelines WHERE account = ?1 AND (?2 IS NULL OR payer_root = ?2) AND removed IS NULL AND backfill_of IS NULL'
    const [page, count] = await batchOf<[RawPipelineRow, { total: number }]>(this.#db, [
      this.#db
        .prepare(`SELECT ${ROW_COLUMNS} ${own} ORDER BY created DESC, id LIMIT ?3 OFFSET ?4`)
        .bind(account, root, limit, from),
      this.#db.prepare(`SELECT count(*) AS total ${own}`).bind(account, root),
    ])
    return { rows: page.results.map(rowOf), total: count.results[0]?.total ?? 0 }
  }

  /** Pipelines that keys of this rotation chain pay for or whose destination they set; newest first. */
  async ofKeyChain(account: AccountId, root: string): Promise<PipelineRow[]> {
    const select = `SELECT ${ROW_COLUMNS} FROM pipelines WHERE account = ?1 AND (payer_root = ?2 OR destination_root = ?2)
      AND removed IS NULL ORDER BY created DESC, id`
    return (await this.#db.prepare(select).bind(account, root).all<RawPipelineRow>()).results.map(rowOf)
  }

  /** Records that the Sink has this revision. Returns false if the pipeline no longer exists. */
  async setSentRevision(id: string, revision: number): Promise<boolean> {
    const update = 'UPDATE pipelines SET told = max(told, ?2) WHERE id = ?1 AND removed IS NULL'
    return this.#hasChanged(update, id, revision)
  }

  /** Marks the pipeline as deleted; the row is kept until `purge`. */
  async remove(id: string, nowMs: number): Promise<void> {
    await this.#hasChanged('UPDATE pipelines SET removed = coalesce(removed, ?2) WHERE id = ?1', id, nowMs)
  }

  async purge(id: string): Promise<void> {
    await this.#hasChanged('DELETE FROM pipelines WHERE id = ? AND removed IS NOT NULL', id)
  }

  async #hasChanged(sql: string, ...values: readonly unknown[]): Promise<boolean> {
    const { meta } = await this.#db
      .prepare(sql)
      .bind(...values)
      .run()
    return meta.changes > 0
  }
}

const payerColumns = ({ payer, payerName, payerRoot, destinationRoot }: PipelineRow) =>
  [payer, payerName, payerRoot, destinationRoot] as const

function encodedFields({ fields, sealed }: PipelineRow) {
  const json = JSON.stringify(fields)
  return { fields: json, bytes: new TextEncoder().encode(json).length + (sealed?.length ?? 0) }
}
