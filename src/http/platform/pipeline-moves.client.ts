// Export and import of pipelines, which move to another gateway. Invariants: a secret stays encrypted, so it moves only to a
// gateway with the same KEY_SECRET; a repeated import changes nothing.

import { AccountStore } from '../../accounts/accounts.store.ts'
import { sha256 } from '../../accounts/digest.client.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { EXPORT_PAGE, type ExportedPipeline, exportedPipeline, importedRow } from '../../pipelines/exported-pipeline.ts'
import type { PipelineRow } from '../../pipelines/pipeline-row.ts'
import { PipelineStore } from '../../pipelines/pipelines.store.ts'
import { unseal } from '../../pipelines/sealing.client.ts'
import { isSynced, SinkLink } from '../../pipelines/sink-link.client.ts'
import { ACCOUNT_FULL, NO_PIPELINES, NOT_SYNCED, type PipelinePorts } from './pipeline-service.client.ts'
import type { PipelineMoves } from './platform-api.ts'
import { badField, type Refusal } from './refusal.ts'

const OTHER_SECRET: Refusal = {
  kind: 'conflict',
  message:
    'sealed: cannot be decrypted with the KEY_SECRET of this gateway. Nothing was imported. Set the KEY_SECRET of the other gateway first',
}

export class PipelineMover implements PipelineMoves {
  readonly #ports: PipelinePorts
  readonly #store: PipelineStore
  readonly #link: SinkLink

  constructor(ports: PipelinePorts) {
    this.#ports = ports
    this.#store = new PipelineStore(ports.db)
    this.#link = new SinkLink({ ...ports, store: this.#store })
  }

  async export(after: string) {
    const rows = await this.#store.after(after, EXPORT_PAGE)
    const failed: string[] = []
    const one = async (row: PipelineRow) => {
      const status = await this.#link.call(row.id, (sink) => sink.status())
      if (status !== null) return [exportedPipeline(row, status)]
      failed.push(row.id)
      return []
    }
    const done = (await Promise.all(rows.map(one))).flat()
    return { done, failed, next: rows.length < EXPORT_PAGE ? null : (rows.at(-1)?.id ?? null) }
  }

  async keySecretHash(): Promise<string | null> {
    const { keySecret } = this.#ports
    return keySecret === '' ? null : sha256(`weir/key-secret-hash/1/${keySecret}`)
  }

  /** Returns false if another pipeline has this id, which then stays unchanged. */
  async import(exported: ExportedPipeline): Promise<Result<boolean, Refusal>> {
    const { db, hasSinks, keySecret, urlRefusal } = this.#ports
    if (!hasSinks) return err(NO_PIPELINES)
    const row = importedRow(exported)
    const { id, account, sealed, fields } = row
    if (sealed !== null && (keySecret === '' || (await unseal(sealed, id, keySecret)) === null))
      return err(OTHER_SECRET)
    const { destination_config: config } = fields
    const wrongUrl = 'url' in config ? urlRefusal(config.url) : null
    if (wrongUrl !== null) return err(badField('fields.destination_config.url', wrongUrl))
    if ((await new AccountStore(db).account(account)) === null)
      return err(badField('account', `does not exist: "${account}". Import the accounts first`))
    if ((await this.#store.get(account, id)) === null && !(await this.#store.add(row, null))) return err(ACCOUNT_FULL)
    const stored = await this.#store.get(account, id)
    if (stored === null || stored.createdMs !== row.createdMs) return ok(false)
    await this.#store.setBackfilled(id, [], row.backfilled)
    // Its owner may have deleted it here since an earlier import.
    if (stored.isRemoved) return ok(true)
    return isSynced(await this.#link.sync(stored)) ? ok(true) : err(NOT_SYNCED)
  }
}
