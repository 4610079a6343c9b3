// A page in the browser of whoever sits at this machine.

import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Where there is no browser, nothing happens: the address has been said. */
export function openInBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  spawn(command!, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
