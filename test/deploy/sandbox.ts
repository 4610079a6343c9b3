// Runs a command as the image does: its user, environment and entry point, without capabilities, and with a read-only root
// file system. Bubblewrap makes the mounts, so no image has to be built.

import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { MAIN, type Program, ROOT, runCommand } from '../kit/program.ts'
import { type Image, readImage } from './dockerfile.ts'

const image = readImage()

interface Sandbox {
  /** Becomes `/var/lib/weir`. */
  readonly state: string
  /** Folders that are also visible, writable or not, at their own paths. */
  readonly writable?: readonly string[]
  readonly readable?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Null, or why no sandbox can be made here. */
export function noSandbox(state: string): string | null {
  const { status, error, stderr } = spawnSync('bwrap', argsOf({ state }, [process.execPath, '-v']), {
    encoding: 'utf8',
  })
  if (error) return 'there is no bwrap (bubblewrap)'
  return status === 0 ? null : `bwrap cannot make one (${stderr.trim().split('\n')[0]})`
}

/** The user of the image, if this user may become it. */
export const sandboxUser = (): number =>
  process.getuid?.() === 0 ? Number(image.user.split(':')[0]) : (process.getuid?.() ?? -1)

/** Runs a command of the image, such as its health check, or another program. */
export function runSandboxed(sandbox: Sandbox, command: readonly string[]): Program {
  return runCommand('bwrap', argsOf(sandbox, command))
}

/** The default command of the image, listening on another port of the loopback address. */
export function defaultCommand(port: number): string[] {
  const { entrypoint, command } = image
  const at = (name: string) => command.indexOf(name) + 1
  const own = command.with(at('--port'), String(port)).with(at('--host'), '127.0.0.1')
  return [...here(entrypoint), ...own, '--json']
}

export const healthCommand = (port: number): string[] =>
  here(image.health).map((word) => word.replace(`:${image.last('EXPOSE')}`, `:${port}`))

export const weirCommand = (...args: readonly string[]): string[] => [...here(image.entrypoint), ...args]

/** The repository instead of the installed package. */
function here([, , ...rest]: Image['entrypoint']): string[] {
  return [process.execPath, MAIN, ...rest]
}

function argsOf({ state, writable = [], readable = [], env = {} }: Sandbox, command: readonly string[]): string[] {
  const [user = '', group = ''] = image.user.split(':')
  const drop = [
    ...['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups'],
    ...['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'],
  ]
  return [
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
    ...['--tmpfs', '/var/lib', '--perms', '1777', '--tmpfs', '/tmp'],
    ...['--bind', state, image.last('VOLUME')],
    ...[ROOT, ...readable].flatMap((path) => [...parents(path), '--ro-bind', path, path]),
    ...writable.flatMap((path) => [...parents(path), '--bind', path, path]),
    ...['--clearenv', '--setenv', 'PATH', process.env.PATH ?? ''],
    ...Object.entries({ ...image.env, ...env }).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', image.last('WORKDIR'), '--unshare-ipc', '--die-with-parent', '--new-session', '--'],
    ...(process.getuid?.() === 0 ? drop : []),
    ...command,
  ]
}

/** Folders above a path below `/tmp` or `/dev/shm`, which are empty at first. Bubblewrap would make them private. */
function parents(path: string): string[] {
  const parent = dirname(path)
  return /^\/(?:tmp|dev\/shm)\//.test(parent) ? [...parents(parent), '--perms', '0755', '--dir', parent] : []
}
