// `weir deploy`: creates a gateway on Cloudflare, or updates it. The command knows from the account which of the two it is.

import { type AnyCommand, failUsage } from '../../core/command-line.node.ts'
import { Count } from '../../core/variables.ts'
import type { Build } from '../launch/demo.node.ts'
import { type Shell, weirProgram } from '../shell.node.ts'
import { DeployError } from './deploy-error.ts'
import { type DeployRequest, runDeploy } from './deploy-run.node.ts'
import { type GradualPlan, SHARES_MESSAGE, Shares } from './gradual.ts'
import { processTerminal } from './terminal.node.ts'

const SHARES = '10,50,100'

export function deployProgram(shell: Shell, build: Build): AnyCommand {
  const command = weirProgram('deploy', [
    '',
    '--dry-run',
    '--yes --region apac-ne --node https://node.example.com/info',
    '--routes',
  ])
    .option('--routes', 'deploy only the gateway; no WebSocket closes')
    .option('--jobs', 'deploy only archive, pipelines and order-level books; no WebSocket closes')
    .option('--gradual [shares]', `move the live objects to the new version in steps, by default ${SHARES} percent`)
    .option('--pause <seconds>', 'pause after each step of --gradual, in which the feed must become live', '120')
    .option('--dry-run', 'show the plan and every problem, and change nothing')
    .option('--yes', 'ask nothing: take the defaults of what weir.toml and the options leave open')
    .option('--account <id>', 'account, if the login has several')
    .option('--name <name>', 'name of the gateway, and prefix of its Workers and stores (default: weir)')
    .option('--region <region>', 'region nearest to the node, for the log and the stores (default: apac-ne)')
    .option('--node <url>', "URL of the node's info server, or none (default: none)")
    .option('--domain <host>', 'domain of the gateway, or workers.dev (default: workers.dev)')
    .option('--secret <name>', 'set this secret to the text on standard input, and deploy nothing')
    .option('--show-secrets', 'show FEED_TOKEN in the line for the feeder')
    .option('--message <text>', 'message of the deployment at Cloudflare')
    .option('--tag <text>', 'tag of the deployment at Cloudflare')
  return command.action(async (options) => {
    const request = requestOf(options, command)
    const { env, print, note } = shell
    try {
      await runDeploy(request, { folder: process.cwd(), env, terminal: processTerminal(), build, print, note })
    } catch (error) {
      if (!(error instanceof DeployError)) throw error
      note(error.message)
      shell.fail()
    }
  })
}

interface Options {
  readonly routes?: true
  readonly jobs?: true
  readonly gradual?: string | true
  readonly pause: string
  readonly dryRun?: true
  readonly yes?: true
  readonly account?: string
  readonly name?: string
  readonly region?: string
  readonly node?: string
  readonly domain?: string
  readonly secret?: string
  readonly showSecrets?: true
  readonly message?: string
  readonly tag?: string
}

function requestOf(options: Options, command: AnyCommand): DeployRequest {
  const { routes = false, jobs = false, account, name, region, node, domain, secret = null, message, tag } = options
  const gradual = options.gradual === undefined ? null : gradualPlan(options.gradual, options.pause, command)
  if (routes && jobs) failUsage(command, '--routes and --jobs deploy different parts. Use one of them')
  if (gradual !== null && (routes || jobs)) failUsage(command, '--gradual deploys all Workers. Use it alone')
  return {
    part: routes ? 'routes' : jobs ? 'jobs' : 'all',
    isDryRun: options.dryRun === true,
    isYes: options.yes === true,
    answers: { '--account': account, '--name': name, '--region': region, '--node': node, '--domain': domain },
    showsSecrets: options.showSecrets === true,
    annotations: Object.entries({ message, tag }).flatMap(([key, value]) =>
      value === undefined ? [] : [`--${key}=${value}`],
    ),
    gradual,
    secret,
  }
}

function gradualPlan(given: string | true, pause: string, command: AnyCommand): GradualPlan {
  const shares = Shares.safeParse(given === true ? SHARES : given)
  const seconds = Count(3_600).safeParse(pause)
  if (!shares.success) return failUsage(command, `--gradual ${SHARES_MESSAGE}`)
  if (!seconds.success) return failUsage(command, `--pause ${seconds.error.issues[0]?.message}`)
  return { shares: shares.data, pauseMs: seconds.data * 1000 }
}
