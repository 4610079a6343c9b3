// The processes of this machine: /proc on Linux (slim images have no `ps`), `ps` elsewhere.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessInfo } from './leftovers.ts'

/** Names the present boot, so that pids of an earlier one are not mistaken for ours; empty where unknown. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

/** Every process that runs now, without zombies. */
export function processTable(): ProcessInfo[] {
  if (process.platform !== 'linux') return fromPs()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProc(Number(name)) ?? [])
}

/** One process, null where it does not run. */
export function processInfo(pid: number): ProcessInfo | null {
  if (process.platform === 'linux') return readProc(pid)
  return fromPs().find((info) => info.pid === pid) ?? null
}

/** Whether somebody stopped it (SIGSTOP, Ctrl-Z); false where the system does not tell (it does on Linux). */
export function isStopped(pid: number): boolean {
  try {
    return /\) [Tt] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function readProc(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; the fields after the last one are state, ppid, pgrp, …, starttime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return null
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return { pid, ppid: Number(fields[1]), pgid: Number(fields[2]), born: Number(fields[19]), command }
  } catch {
    return null
  }
}

function fromPs(): ProcessInfo[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=,command='], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    maxBuffer: 16 * 1024 * 1024,
  })
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s(.*)$/
  return text.split('\n').flatMap((row) => {
    const [, pid, ppid, pgid, stat, born, command] = line.exec(row) ?? []
    if (!pid || !stat || stat.startsWith('Z')) return []
    return { pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), born: Date.parse(born!), command: command! }
  })
}
