// Processes of this machine (/proc on Linux, because slim images have no `ps`; `ps` elsewhere), and its ports. Ports are tested
// before anything starts, so that a port in use gives one clear message.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ProcessInfo {
  readonly ppid: number
  readonly pgid: number
  readonly command: string
  /** Stopped by a signal (SIGSTOP, Ctrl-Z). */
  readonly isStopped: boolean
}

const END_MS = 1_000

/** Null if the process does not run, or is a zombie. */
export function processInfo(pid: number): ProcessInfo | null {
  try {
    const [state, ppid, pgid, command] = process.platform === 'linux' ? procOf(pid) : psOf(pid)
    return /^[ZX]/.test(state)
      ? null
      : { ppid: Number(ppid), pgid: Number(pgid), command, isStopped: /^[Tt]/.test(state) }
  } catch {
    return null
  }
}

function procOf(
  pid: number | string,
  place = '/proc',
): readonly [state: string, ppid: string, pgid: string, command: string] {
  const stat = readFileSync(`${place}/${pid}/stat`, 'utf8')
  // The name in parentheses may contain anything; the last one is followed by state, ppid, pgrp, …
  const [state = '', ppid = '', pgid = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [state, ppid, pgid, readFileSync(`${place}/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
}

function psOf(pid: number): readonly [state: string, ppid: string, pgid: string, command: string] {
  const text = execFileSync('ps', ['-o', 'stat=,ppid=,pgid=,command=', '-p', String(pid)], { encoding: 'utf8' })
  const [, state = 'X', ppid = '', pgid = '', command = ''] = /^\s*(\S+)\s+(\d+)\s+(\d+)\s+(.*)$/m.exec(text) ?? []
  return [state, ppid, pgid, command]
}

/** Whether a signal has stopped the process with all its threads, each of which ends its system call first. */
export function isWhollyStopped(pid: number): boolean {
  if (process.platform !== 'linux') return processInfo(pid)?.isStopped === true
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => /^[Tt]/.test(procOf(thread, `/proc/${pid}/task`)[0]))
  } catch {
    return false
  }
}

/** The first ancestor of this process that is not a shell; under npm that is npm. */
export function starterPid(): number {
  let pid = process.ppid
  for (let info = processInfo(pid); info && /^(\S*\/)?(da|ba|z|k)?sh -c /.test(info.command); info = processInfo(pid))
    pid = info.ppid
  return pid
}

/** Child processes whose command contains this word. The list is always empty on systems other than Linux. */
export function childrenOf(pid: number, word: string): number[] {
  try {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
    return pids.filter((child) => processInfo(child)?.command.includes(word))
  } catch {
    return []
  }
}

/** Kills a process group and waits briefly until it is gone. Its leader may have ended, because workerd survives a SIGKILL of Node. */
export async function killGroup(leader: number): Promise<void> {
  for (const deadline = Date.now() + END_MS; Date.now() < deadline; await sleep(20))
    try {
      process.kill(-leader, 'SIGKILL')
    } catch {
      return
    }
}

/**
 * Kills processes left by a killed launcher. Its children exit shortly after (guard.node.ts), but workerd does not
 * if its parent was killed too. Pids are reused, so a process is killed only if its command names the state folder, or if it is
 * in the process group of the gateway.
 */
export async function killLeftovers(folder: string, pids: Readonly<Record<string, number>>): Promise<void> {
  const left = Object.values(pids).filter((pid) => {
    const info = processInfo(pid)
    return info !== null && (info.command.includes(folder) || info.pgid === pids.gateway)
  })
  for (const pid of left) process.kill(pid, 'SIGKILL')
  for (const deadline = Date.now() + END_MS; left.some(processInfo) && Date.now() < deadline; ) await sleep(20)
}

/**
 * Kills the workerd processes of a launcher that was killed. Pids are reused, so a process is killed only if it is a workerd
 * whose parent is gone, which a running launcher's is not.
 */
export async function killOrphans(pids: Readonly<Record<string, number>>): Promise<void> {
  const left = Object.values(pids).filter((pid) => {
    const info = processInfo(pid)
    return info?.command.includes('workerd serve') && !processInfo(info.ppid)?.command.includes('node')
  })
  for (const pid of left) process.kill(pid, 'SIGKILL')
  for (const deadline = Date.now() + END_MS; left.some(processInfo) && Date.now() < deadline; ) await sleep(20)
}

/** The port that can be listened on (0: any free one), or the error code. */
function tryListen(port: number, host = '127.0.0.1'): Promise<number | string> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** The error code if the port cannot be used, otherwise null. Waits up to a second for a process that just ended. */
export async function portError(port: number, host?: string): Promise<string | null> {
  for (let i = 0; ; i++) {
    const got = await tryListen(port, host)
    if (typeof got === 'number') return null
    if (got !== 'EADDRINUSE' || i === 20) return got
    await sleep(50)
  }
}

/** `preferred` if it is free, otherwise any free port; never `reserved`, which another process will use. */
export async function freePort(preferred = 0, reserved?: number): Promise<number> {
  const got = preferred === reserved ? await tryListen(0) : await tryListen(preferred)
  if (typeof got === 'number' && got !== reserved) return got
  if (preferred === 0 && typeof got === 'string') throw new Error(`no free port (${got})`)
  return freePort(0, reserved)
}
