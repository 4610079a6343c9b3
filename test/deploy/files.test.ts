// The files in deploy: what they promise, and their agreement with the commands, the packages and each other.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MAIN, ROOT } from '../kit/program.ts'
import { DEPLOY, expanded, readImage } from './dockerfile.ts'

const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const has = (command: string) => spawnSync(command, ['--version']).status === 0

/** Options of a command, without dashes. */
function optionsOf(command: string): string[] {
  const help = execFileSync(process.execPath, [MAIN, command, '--help'], { encoding: 'utf8' })
  return [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name!)
}
const OPTIONS = { serve: optionsOf('serve'), feed: optionsOf('feed'), doctor: optionsOf('doctor') }

function expectKnownOptions(command: string, args: string): void {
  const used = [...args.matchAll(/--([\w-]+)/g)].map(([, name]) => name!)
  expect(used.length).toBeGreaterThan(0)
  expect(used.filter((name) => !OPTIONS[command as keyof typeof OPTIONS].includes(name))).toEqual([])
}

/** A base image or a service has an exact version, or a digest. */
const isPinned = (image: string) => /(?:[:-]v?\d+\.\d+(?:\.\d+)?(?:-[a-z][\w.-]*)?|@sha256:[0-9a-f]{64})$/.test(image)

describe('the Dockerfile', () => {
  const image = readImage()

  it('has pinned bases whose Node runs the package', () => {
    expect(image.stages.map(({ from }) => isPinned(from))).toEqual([true, true])
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>
    }
    expect(image.stages.at(-1)!.from).toContain(`node:${devDependencies.node}-`)
  })

  it('copies files that exist after npm run build:programs, of this version', () => {
    expect(image.args.VERSION).toBe(version)
    const copies = image.stages.flatMap(({ instructions }) => instructions.filter(([name]) => name === 'COPY'))
    const [own, ...others] = copies.map(([, text]) => expanded(text, image.args).split(' '))
    expect(own![0]).toBe(`weir-${version}.tgz`)
    expect(others.every(([from]) => from === '--from=build')).toBe(true)
    const build = image.stages[0]!.instructions.map(([, text]) => text).join('\n')
    for (const [, ...words] of others) expect(build).toContain(words.at(-2))
  })

  it('runs without root, from a root file system that may be read-only', () => {
    expect(image.user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/)
    expect(image.env).toEqual({
      NODE_ENV: 'production',
      HOME: '/tmp',
      SSL_CERT_FILE: expect.stringMatching(/^\/opt\/weir\//),
    })
    const [{ instructions: build } = { instructions: [] }] = image.stages
    expect(build.map(([, text]) => text).join()).toContain(`rootCertificates.join("\\n")' >${image.env.SSL_CERT_FILE}`)
    expect([image.last('VOLUME'), image.last('STOPSIGNAL')]).toEqual(['/var/lib/weir', 'SIGTERM'])
    expect(image.last('LABEL')).toContain('org.opencontainers.image.version=')
    expect(image.stages.at(-1)!.instructions.filter(([name]) => name === 'RUN')).toEqual([])
  })

  it('starts and checks the gateway with options that exist, on the port that it exposes', () => {
    const [command = '', ...args] = image.command
    expectKnownOptions(command, args.join(' '))
    expect(args).toEqual(expect.arrayContaining(['--port', image.last('EXPOSE'), '--state', image.last('VOLUME')]))
    const [node, program, doctor, ...more] = image.health
    expect([node, program, doctor]).toEqual([...image.entrypoint, 'doctor'])
    expectKnownOptions('doctor', more.join(' '))
    expect(more.at(-1)).toBe(`http://127.0.0.1:${image.last('EXPOSE')}`)
  })
})

describe('compose.yaml', () => {
  const text = read('container/compose.yaml')
  const [, body = ''] = /^services:\n([\s\S]*?)^secrets:/m.exec(text) ?? []
  const services = new Map(
    body.split(/^ {2}(?=\w+:$)/m).flatMap((part) => {
      const [, name] = /^(\w+):\n/.exec(part) ?? []
      return name === undefined ? [] : [[name, part] as const]
    }),
  )
  const anchor = (name: string) => new RegExp(`&${name}\\n((?: {2}.*\\n)+)`).exec(text)![1]!
  const names = ['gateway', 'feeder', 'postgres', 'prometheus']

  it('has each service as a profile of its name, hardened and limited', () => {
    expect([...services.keys()]).toEqual(names)
    for (const setting of ['read_only: true', 'cap_drop: [ALL]', 'no-new-privileges:true', 'restart: unless-stopped'])
      expect(anchor('hardened')).toContain(setting)
    expect(anchor('weir')).toContain('<<: *hardened')
    expect(anchor('weir')).toContain('tmpfs: ["/tmp:')
    for (const [name, service] of services) {
      expect(service).toContain(`profiles: [${name}]`)
      expect(service).toMatch(/<<: \*(?:hardened|weir)\n/)
      expect(service).toMatch(/^ {4}mem_limit: \d/m)
      expect(service).toMatch(/^ {4}pids_limit: \d/m)
      // The gateway has the health check of its image.
      if (name !== 'gateway') expect(service).toMatch(/^ {4}healthcheck:/m)
    }
  })

  it('publishes ports on the loopback address only', () => {
    const ports = [...text.matchAll(/^ {4}ports: \["(.*)"\]$/gm)].map(([, port]) => port)
    expect(ports).toEqual(['127.0.0.1:8787:8787', '127.0.0.1:9090:9090'])
  })

  it('runs commands with options that exist, and pinned images', () => {
    const commands = [...body.matchAll(/command: >-\n {6}(serve|feed) ((?:.*\n {6})*.*)\n/g)]
    expect(commands.map(([, command]) => command)).toEqual(['serve', 'feed'])
    for (const [, command = '', args = ''] of commands) expectKnownOptions(command, args)
    const images = [...text.matchAll(/^ {2,4}image: (.*)$/gm)].map(([, image]) => image!)
    expect(images.map((image) => [image, isPinned(image)])).toEqual(images.map((image) => [image, true]))
    expect(images).toContain(`weir:${version}`)
  })

  it('defines every volume and secret that a service names, and mounts files that exist', () => {
    const defined = (part: string) =>
      [...new RegExp(`^${part}:\\n((?: {2}.*\\n)+)`, 'm').exec(text)![1]!.matchAll(/^ {2}(\w+):/gm)].map(
        ([, name]) => name,
      )
    const secrets = [...body.matchAll(/secrets: \[(\w+)\]/g)].map(([, name]) => name)
    expect(defined('secrets').sort()).toEqual(secrets.sort())
    const mounts = [...body.matchAll(/"([^"\s]+):\/[^"\s]*"/g)].map(([, source]) => source!)
    const volumes = mounts.filter((mount) => /^[a-z]+$/.test(mount))
    expect(volumes.sort()).toEqual(defined('volumes').sort())
    const files = mounts.filter((mount) => mount.startsWith('.'))
    expect(files.length).toBeGreaterThan(1)
    for (const file of files) expect([file, existsSync(join(DEPLOY, 'container', file))]).toEqual([file, true])
    const [, context = '', dockerfile = ''] = /context: (\S+), dockerfile: (\S+) /.exec(text)!
    expect(join(DEPLOY, 'container', context)).toBe(join(ROOT, 'dist/packages'))
    expect(join(DEPLOY, 'container', context, dockerfile)).toBe(join(DEPLOY, 'container/Dockerfile'))
  })

  it('scrapes the gateway with the alert rules of the examples', () => {
    const prometheus = read('container/prometheus.yml')
    expect(prometheus).toContain('credentials_file: /run/secrets/metrics_token')
    expect(body).toContain(`:${/rule_files: \[(.*)\]/.exec(prometheus)![1]}:ro`)
    // The rules name the job.
    expect(prometheus).toContain('job_name: weir\n')
  })
})

describe('the systemd units', () => {
  const units = readdirSync(join(DEPLOY, 'systemd'))
  /** The highest exposure that `systemd-analyze security` may report. V8 and a network service need the rest. */
  const EXPOSURE_MAX = 20

  it.each(units)('%s runs options that exist, and stays within its limits', (unit) => {
    const text = read(`systemd/${unit}`)
    const [, , program = '', args = ''] = /^ExecStart=(\S+) (\S+) (.*)$/m.exec(text)!
    expectKnownOptions(unit === 'weir.service' ? 'serve' : 'feed', args)
    expect(existsSync(join(ROOT, program.replace(/^.*node_modules\/(?:@weir\/)?/, 'packages/')))).toBe(true)
    for (const setting of ['Restart=always', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'LimitNOFILE=65536'])
      expect(text.split('\n')).toContain(setting)
    // A comment says why.
    expect(text).not.toMatch(/^MemoryDenyWriteExecute/m)
    const variables = [...args.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!)
    const [known = ''] = /^# .*Only root reads it\.$/m.exec(text)!
    expect(variables.filter((name) => !known.includes(name))).toEqual([])
  })

  const noSystemd = has('systemd-analyze') ? null : 'there is no systemd-analyze'
  if (noSystemd !== null) console.error(`SKIPPED: verification of the systemd units: ${noSystemd}`)
  it.skipIf(noSystemd !== null).each(units)('systemd accepts %s, and it is hardened', (unit) => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-unit-'))
    try {
      const path = join(folder, unit)
      // The program is checked for existence.
      writeFileSync(path, read(`systemd/${unit}`).replace('=/usr/bin/node ', `=${process.execPath} `))
      const verify = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' })
      const own = verify.stderr.split('\n').filter((line) => line.includes(unit))
      expect([verify.status, own]).toEqual([0, []])
      const security = spawnSync(
        'systemd-analyze',
        ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, '--no-pager', path],
        { encoding: 'utf8' },
      )
      expect([security.status, security.stdout.trim().split('\n').at(-1)]).toEqual([0, expect.stringContaining('OK')])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
