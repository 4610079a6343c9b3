// `npm run deploy`: both Workers, live first, because the gateway's bindings name its classes.
// Arguments go to wrangler (`--dry-run`). The two name each other, which Cloudflare refuses while neither exists:
// `--first` deploys live without its binding to the gateway, then the gateway, then live again, whole.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const FIRST = 'wrangler.first.toml'
const args = process.argv.slice(2)
const isFirst = args.includes('--first')
const rest = args.filter((arg) => arg !== '--first')

function deploy(config) {
  const wrangler = ['node_modules/wrangler/bin/wrangler.js', 'deploy', '-c', config, ...rest]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true' }
  const { status } = spawnSync(process.execPath, wrangler, { stdio: 'inherit', env })
  if (status !== 0) {
    process.stderr.write(`${config} was not deployed.\n`)
    process.exit(status ?? 1)
  }
}

if (isFirst) {
  const live = readFileSync('wrangler.live.toml', 'utf8')
  writeFileSync(FIRST, live.replace(/\[\[services\]\][^[]*/g, ''))
  process.on('exit', () => rmSync(FIRST, { force: true }))
  deploy(FIRST)
  deploy('wrangler.toml')
}
deploy('wrangler.live.toml')
if (!isFirst) deploy('wrangler.toml')
