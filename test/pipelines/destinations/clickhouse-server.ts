// Starts a new ClickHouse server for tests, if the machine has one installed. It has free ports, a user and a
// password.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../src/cli/launch/processes.node.ts'
import { type Program, runCommand, scratch } from '../../kit/program.ts'
import { until } from '../../kit/until.ts'

export interface ClickHouseServer {
  readonly url: string
  /** What a statement answers, a line each. */
  query(sql: string): Promise<string[]>
  start(): Promise<void>
  /** As if its machine had gone. */
  kill(): Promise<void>
  remove(): Promise<void>
}

export const USER = 'weir'
export const PASSWORD = 'p@ss "word" ü€'
/** Where Debian has it; what others have is of another age, and has other words. */
const BINARY = '/usr/sbin/clickhouse-server'
export const hasClickHouse = existsSync(BINARY)

const settings = (folder: string, ports: readonly number[]) => `<yandex>
  <logger><level>none</level><console>1</console></logger>
  <http_port>${ports[0]}</http_port><tcp_port>${ports[1]}</tcp_port><interserver_http_port>${ports[2]}</interserver_http_port>
  <listen_host>127.0.0.1</listen_host><interserver_http_host>127.0.0.1</interserver_http_host>
  <path>${folder}/data/</path><tmp_path>${folder}/data/tmp/</tmp_path><user_files_path>${folder}/data/files/</user_files_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
  <mark_cache_size>5368709</mark_cache_size>
</yandex>`
const users = `<yandex>
  <profiles><default/></profiles><quotas><default/></quotas>
  <users><${USER}><password>${PASSWORD}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></${USER}></users>
</yandex>`

export async function startClickHouse(): Promise<ClickHouseServer> {
  const { path, remove } = scratch()
  const ports = await Promise.all([freePort(undefined), freePort(undefined), freePort(undefined)])
  const url = `http://127.0.0.1:${ports[0]}`
  writeFileSync(join(path, 'config.xml'), settings(path, ports))
  writeFileSync(join(path, 'users.xml'), users)
  const authorization = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
  const query = async (body: string) => {
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text.split('\n').filter((line) => line !== '')
  }
  let server: Program | null = null
  const start = async () => {
    server = runCommand(BINARY, [`--config-file=${join(path, 'config.xml')}`], {}, { cwd: path })
    const isUp = async () => (await query('SELECT 1')).length > 0
    await until(isUp, 'ClickHouse does not answer', { withinMs: 20_000, everyMs: 100 })
  }
  const kill = async () => server?.end('SIGKILL')
  await start()
  return {
    url,
    query,
    start,
    kill,
    remove: async () => {
      await kill()
      remove()
    },
  }
}
