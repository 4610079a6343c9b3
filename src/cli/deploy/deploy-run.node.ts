// One deploy, in its order: questions, checks, plan, stores, tables, Workers, first request, first key. Invariants: nothing is
// created before all checks have passed; after an interruption at any point, the same command continues.

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lockFile } from '../../core/file-lock.node.ts'
import type { Result } from '../../core/result.ts'
import {
  ADDRESS,
  completeSecrets,
  FIRST_KEY,
  readSecrets,
  SECRETS_FILE,
  type Secrets,
  writeSecrets,
} from '../secrets-file.node.ts'
import { addSetting, parseSettings, readSettings, settingsText, withAdded } from '../settings/settings-file.node.ts'
import { unknownVariables, type WeirSettings } from '../settings/weir-settings.ts'
import { ROOT } from '../version.node.ts'
import { migrationsOf, readAccount } from './account-facts.node.ts'
import { type Account, CloudflareApi, NOT_LOGGED_IN } from './cloudflare-api.node.ts'
import {
  type AccountFacts,
  type DeployFacts,
  deployFindings,
  type Finding,
  hasSecrets,
  type Scope,
} from './deploy-checks.ts'
import { DeployError } from './deploy-error.ts'
import { deployPlan, deploySteps, laterWorkers, scopeOf } from './deploy-plan.ts'
import { effectiveFiles, type WorkerFiles, withoutWorkers } from './effective-file.ts'
import { createFirstKey } from './first-key.node.ts'
import { addressOf, firstRequest } from './first-request.ts'
import { readStatus } from './gateway-status.node.ts'
import type { GradualPlan } from './gradual.ts'
import { deployLiveGradually } from './live-steps.node.ts'
import { putSecret } from './put-secret.node.ts'
import { contradictions, givenAnswer, type Question, questionsFor, type Setting, tomlOf } from './questions.ts'
import { createStores, migrate } from './stores.node.ts'
import type { Terminal } from './terminal.node.ts'
import { makeWorkFolder, readTemplates, writeWorkerFile, writeWorkerFiles } from './worker-files.node.ts'
import { deployedRoles, type WorkerRole } from './workers.ts'
import { Wrangler } from './wrangler.node.ts'

export interface DeployRequest {
  readonly part: 'all' | 'routes' | 'jobs'
  readonly isDryRun: boolean
  readonly isYes: boolean
  /** Answers by option. */
  readonly answers: Readonly<Record<string, string | undefined>>
  readonly showsSecrets: boolean
  /** Options of wrangler that describe the deployment. */
  readonly annotations: readonly string[]
  readonly gradual: GradualPlan | null
  /** A secret to set instead of a deploy. */
  readonly secret: string | null
}

export interface DeployPorts {
  /** The operator's folder. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly terminal: Terminal
  /** Updates the built Workers. */
  readonly build: () => Promise<unknown>
  readonly print: (text: string) => void
  readonly note: (text: string) => void
}

/** Throws a DeployError if the deploy stops. */
export async function runDeploy(request: DeployRequest, ports: DeployPorts): Promise<void> {
  const deploy = new Deploy(request, ports)
  try {
    await deploy.run()
  } finally {
    deploy.release()
  }
}

class Deploy {
  readonly #request: DeployRequest
  readonly #ports: DeployPorts
  readonly #templates = readTemplates(ROOT)
  readonly #work: string
  /** Releases the folder for other deploys. */
  readonly release: () => void
  readonly #wrangler: Wrangler

  constructor(request: DeployRequest, ports: DeployPorts) {
    this.#request = request
    this.#ports = ports
    this.#checked(readSettings(ports.folder))
    this.#work = makeWorkFolder(ports.folder)
    // Two deploys at once would invent two sets of secrets, and overwrite each other's files.
    const lock = lockFile(join(this.#work, 'lock.sqlite'), 0)
    if (lock === null) throw new DeployError('Another "weir deploy" runs in this folder. Wait until it has ended.')
    this.release = () => lock.close()
    this.#wrangler = new Wrangler(this.#work, ports.env)
  }

  async run(): Promise<void> {
    const { note } = this.#ports
    const { isDryRun, secret } = this.#request
    const login = await this.#wrangler.login()
    if (login === null && !isDryRun) throw new DeployError(NOT_LOGGED_IN)
    const api = login && new CloudflareApi(login, this.#ports.env.CLOUDFLARE_API_BASE_URL)
    const settings = await this.#answered(api && (await api.accounts()))
    const workers = effectiveFiles(this.#templates, settings, ROOT)
    const account = settings.account_id ?? ''
    if (secret !== null && api !== null) return putSecret(secret, { ...this.#ports, api, account, workers })
    const found = api && (await readAccount(api, account, settings, workers))
    const facts = this.#factsOf(settings, workers, found)
    const creates = isCreating(facts)
    if (isDryRun || creates) this.#notePlan(facts)
    const errors = this.#check(facts)
    if (isDryRun || api === null || found === null) return this.#rehearse(facts, errors)
    if (creates) await this.#confirm()
    await this.#ports.build()
    const store = { api, account, folder: this.#ports.folder, facts: found, note }
    const complete = await createStores(store, settings)
    const files = effectiveFiles(this.#templates, complete, ROOT)
    await migrate(store, files.gateway.d1_databases)
    writeWorkerFiles(this.#work, files)
    await this.#deployWorkers({ ...facts, workers: files })
    await this.#finish({ ...facts, workers: files })
  }

  #checked(settings: Result<WeirSettings, string>): WeirSettings {
    if (!settings.ok) throw new DeployError(settings.error)
    const unknown = unknownVariables(
      settings.value,
      Object.values(this.#templates).map(({ vars }) => vars),
    )
    if (unknown.length > 0) throw new DeployError(unknown.join('\n'))
    return settings.value
  }

  /** The settings with an answer to each open question. They are saved, except in a dry run. */
  async #answered(accounts: readonly Account[] | null): Promise<WeirSettings> {
    const { folder, env, terminal } = this.#ports
    const { isDryRun, isYes, answers } = this.#request
    const settings = this.#checked(readSettings(folder))
    const questions = questionsFor(accounts)
    const differing = contradictions(settings, questions, answers)
    if (differing.length > 0) throw new DeployError(differing.join('\n'))
    const given: DeployRequest['answers'] = {
      ...answers,
      '--account': answers['--account'] ?? env.CLOUDFLARE_ACCOUNT_ID,
    }
    const asks = terminal.isInteractive && !isYes && !isDryRun
    const open = questions
      .filter(({ isOpen }) => isOpen(settings))
      .map((question) => [question, givenAnswer(question, given[question.option], isYes || isDryRun)] as const)
    const missing = open.flatMap(([, answer]) => (answer.ok ? [] : [answer.error]))
    if (missing.length > 0 && !asks) throw new DeployError(missing.join('\n'))
    const decided: Setting[] = []
    for (const [question, answer] of open) decided.push(...(await this.#decide(question, answer)))
    return this.#saved(decided)
  }

  /** The settings of an answer. Without one, a person is asked until the answer is valid. */
  async #decide(question: Question, answer: Result<string, string>): Promise<readonly Setting[]> {
    const { terminal, note } = this.#ports
    for (;;) {
      const text = answer.ok ? answer.value : await terminal.ask(question.text, question.byDefault)
      const decision = question.settings(text)
      if (decision.ok) return decision.value
      if (answer.ok) throw new DeployError(`${question.option} ${decision.error}.`)
      note(`It ${decision.error}.`)
    }
  }

  #saved(decided: readonly Setting[]): WeirSettings {
    const { folder } = this.#ports
    let text = settingsText(folder)
    for (const [path, value] of decided) {
      const literal = tomlOf(value)
      const added = withAdded(text, path, literal)
      if (!added.ok) throw new DeployError(added.error)
      text = added.value
      if (!this.#request.isDryRun) addSetting(folder, path, literal)
    }
    return this.#checked(parseSettings(text))
  }

  #factsOf(settings: WeirSettings, workers: WorkerFiles, account: AccountFacts | null): DeployFacts {
    const { part } = this.#request
    const scope: Scope = part === 'all' ? scopeOf(account) : part
    const { secrets, fault } = readSecrets(this.#ports.folder)
    const required = workers.gateway.secrets?.required ?? []
    const given = Object.fromEntries(required.map((name) => [name, this.#ports.env[name] ?? secrets?.[name]]))
    const isTemporary = this.#ports.env.WORKERS_CI !== undefined
    return { settings, workers, scope, isTemporary, given, secretsFault: scope === 'first' ? fault : null, account }
  }

  #notePlan(facts: DeployFacts): void {
    const { d1_databases: databases } = facts.workers.gateway
    const files = databases.map((one) => [one.binding, migrationsOf(one).map(({ name }) => name)] as const)
    this.#ports.note(deployPlan({ ...facts, files: Object.fromEntries(files) }).join('\n'))
  }

  /** Prints the findings and returns the errors. Throws if there are some, except in a dry run. */
  #check(facts: DeployFacts): readonly Finding[] {
    const { part, isDryRun, gradual } = this.#request
    const { gateway, jobs } = facts.workers
    if (part === 'jobs' && !deployedRoles(gateway, jobs).includes('jobs'))
      throw new DeployError('--jobs would deploy nothing, because weir.toml says jobs = false.')
    if (gradual !== null && !gateway.vars.PUBLIC_URL)
      throw new DeployError('--gradual reads /status of PUBLIC_URL. Set vars.PUBLIC_URL in weir.toml.')
    const findings = deployFindings(facts)
    const errors = findings.filter(({ level }) => level === 'error')
    this.#noteFindings(findings)
    if (errors.length > 0 && !isDryRun) throw new DeployError(`${countText(errors)}: nothing was deployed.`)
    return errors
  }

  #noteFindings(findings: readonly Finding[]): void {
    for (const { level, text } of findings) this.#ports.note(`${level.padEnd(8)} ${text}`)
  }

  /** Builds the Workers, and lets wrangler check them. */
  async #rehearse({ workers, scope, account }: DeployFacts, errors: readonly Finding[]): Promise<void> {
    await this.#ports.build()
    writeWorkerFiles(this.#work, workers)
    const roles = deploySteps(scope, deployedRoles(workers.gateway, workers.jobs), account).map(({ role }) => role)
    for (const role of new Set(roles)) await this.#wrangler.run('deploy', '-c', this.#fileOf(role), '--dry-run')
    if (errors.length === 0) return
    // The list is printed again, because the output of wrangler has followed the first one.
    this.#noteFindings(errors)
    throw new DeployError(`${countText(errors)}: a deploy would stop here.`)
  }

  async #confirm(): Promise<void> {
    const { terminal } = this.#ports
    if (this.#request.isYes) return
    if (!terminal.isInteractive) throw new DeployError('Pass --yes to create and deploy this.')
    const answer = await terminal.ask('Create and deploy this?', 'yes')
    if (!/^y(?:es)?$/i.test(answer)) throw new DeployError('Nothing was created.')
  }

  async #deployWorkers(facts: DeployFacts): Promise<void> {
    const { workers, scope, account } = facts
    const { note } = this.#ports
    const { gradual } = this.#request
    if (scope === 'all' && gradual === null)
      note('Deploying all Workers. WebSockets close within 5 minutes. With --routes or --jobs none closes.')
    const steps = deploySteps(scope, deployedRoles(workers.gateway, workers.jobs), account)
    for (const [at, { role, isPartial }] of steps.entries()) {
      note(`Deploying ${workers[role].name} (${at + 1} of ${steps.length}) …`)
      if (role === 'gateway') await this.#deployGateway(facts)
      else if (role === 'live' && gradual !== null) await this.#deployGradually(gradual, facts)
      else await this.#deployObjects(role, isPartial, workers)
    }
  }

  async #deployGradually(plan: GradualPlan, { workers }: DeployFacts): Promise<void> {
    const url = workers.gateway.vars.PUBLIC_URL ?? ''
    const { annotations } = this.#request
    await deployLiveGradually(plan, this.#fileOf('live'), url, this.#wrangler, annotations, this.#ports.note)
  }

  async #deployObjects(role: WorkerRole, isPartial: boolean, workers: WorkerFiles): Promise<void> {
    const missing = laterWorkers(role).map((later) => workers[later].name)
    const config = isPartial
      ? writeWorkerFile(this.#work, `${role}.partial`, withoutWorkers(workers[role], missing))
      : this.#fileOf(role)
    await this.#wrangler.run('deploy', '-c', config, ...this.#request.annotations)
  }

  async #deployGateway({ scope, account, workers, given }: DeployFacts): Promise<void> {
    const { annotations } = this.#request
    const args = ['deploy', '-c', this.#fileOf('gateway'), ...annotations]
    const isNew =
      scope === 'first' && !hasSecrets(account?.secrets.gateway ?? null, workers.gateway.secrets?.required ?? [])
    if (!isNew) return this.#wrangler.run(...args)
    const { folder } = this.#ports
    const secrets = completeSecrets(given)
    writeSecrets(folder, { ...readSecrets(folder).secrets, ...secrets })
    const sent = join(this.#work, 'secrets.json')
    writeFileSync(sent, JSON.stringify(secrets), { mode: 0o600 })
    try {
      await this.#wrangler.run(...args, '--secrets-file', sent)
    } finally {
      rmSync(sent)
    }
  }

  /** Opens a new gateway, and creates its first key if its secrets are here. */
  async #finish({ scope, workers, isTemporary }: DeployFacts): Promise<void> {
    if (scope === 'routes' || scope === 'jobs') return
    const { folder, note } = this.#ports
    const { name, vars } = workers.gateway
    const address = addressOf(this.#wrangler.records(), name) ?? (vars.PUBLIC_URL || null)
    if (address === null)
      return note(`The address of ${name} is unknown. Open its /status once, to create the log and the hubs.`)
    // The log of a build is not the place for a key.
    const kept = isTemporary ? null : readSecrets(folder).secrets
    const secrets: Secrets | null = kept && { ...kept, [ADDRESS]: address }
    if (secrets !== null && kept?.[ADDRESS] !== address) writeSecrets(folder, secrets)
    const isNew = scope === 'first' || (secrets !== null && secrets[FIRST_KEY] === undefined)
    if (!isNew) return note(`The gateway answers at ${address}.`)
    note(await firstRequest(address, Number(vars.BOOK_HUBS), readStatus, (ms) => sleep(ms)))
    const key = secrets && (await this.#firstKey(address, secrets))
    this.#report(address, secrets, vars.CHAIN ?? '')
    if (key !== null) this.#ports.print(key)
  }

  async #firstKey(address: string, secrets: Secrets): Promise<string | null> {
    const { ADMIN_TOKEN: token, [FIRST_KEY]: kept } = secrets
    if (kept !== undefined || token === undefined) return kept ?? null
    const created = await createFirstKey(address, token)
    if (!created.ok)
      throw new DeployError(
        `The gateway is deployed, but its first key was not created: ${created.error}\nRun the same command again.`,
      )
    writeSecrets(this.#ports.folder, { ...secrets, [FIRST_KEY]: created.value })
    return created.value
  }

  /** The first key is printed after it, alone on standard output. */
  #report(address: string, secrets: Secrets | null, chain: string): void {
    const { folder, note } = this.#ports
    const ofChain = chain === 'hyperliquid' ? '' : ` --chain ${chain}`
    const feed = (token: string | undefined) =>
      `  FEED_TOKEN=${token} npx weir feed --data ~/hl/data --info http://127.0.0.1:3001 --gateway ${address}${ofChain}`
    note(`\nThe gateway answers at ${address}, its documentation at ${address}/docs.`)
    if (secrets === null) {
      note(`Create the first key:\n  ADMIN_TOKEN=… npx weir keys create --account main --url ${address}`)
      return note(`Start the feeder next to your node:\n${feed('…')}`)
    }
    note(`Its secrets and the first key are in ${join(folder, SECRETS_FILE)} (mode 0600). Keep a copy, but not in git.`)
    note(
      `Start the feeder next to your node:\n${feed(this.#request.showsSecrets ? secrets.FEED_TOKEN : `<FEED_TOKEN of ${SECRETS_FILE}>`)}`,
    )
    note('The first key, of the account main:')
  }

  #fileOf(role: string): string {
    return join(this.#work, `${role}.toml`)
  }
}

function isCreating({ scope, account }: DeployFacts): boolean {
  return scope === 'first' || Object.values(account?.stores ?? {}).some(({ state }) => state === 'missing')
}

function countText({ length }: readonly Finding[]): string {
  return length === 1 ? '1 error' : `${length} errors`
}
