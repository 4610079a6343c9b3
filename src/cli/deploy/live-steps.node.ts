// A gradual deploy of the live Worker with wrangler: gradual.ts decides, and this file uploads, assigns shares and reads
// `/status`.

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { parseJson } from '../../core/json.ts'
import { DeployError } from './deploy-error.ts'
import { readStatus } from './gateway-status.node.ts'
import { deployGradually, type GradualPlan } from './gradual.ts'
import type { Wrangler } from './wrangler.node.ts'

const Deployment = z.looseObject({ versions: z.array(z.looseObject({ version_id: z.string() })) })
const Version = z.looseObject({ metadata: z.looseObject({ created_on: z.string() }) })
const VersionUpload = z.looseObject({ type: z.literal('version-upload'), version_id: z.string() })
const FeedState = z.looseObject({ state: z.string() })

/** `config`: the wrangler file of the live Worker. `url`: of the gateway. Throws if the old version has the objects. */
export async function deployLiveGradually(
  plan: GradualPlan,
  config: string,
  url: string,
  wrangler: Wrangler,
  annotations: readonly string[],
  note: (line: string) => void,
): Promise<void> {
  const fault = await deployGradually(plan, {
    deployed: async () => {
      const { versions } = Deployment.parse(await wrangler.readJson('deployments', 'status', '-c', config))
      return Promise.all(
        versions.map(async ({ version_id: id }) => {
          const { metadata } = Version.parse(await wrangler.readJson('versions', 'view', id, '-c', config))
          return { id, createdMs: Date.parse(metadata.created_on) }
        }),
      )
    },
    upload: async () => {
      await wrangler.run('versions', 'upload', '-c', config, ...annotations)
      const lines = wrangler.records().split('\n')
      const uploads = lines.map((line) => VersionUpload.safeParse(parseJson(line)))
      const last = uploads.findLast(({ success }) => success)?.data
      if (last === undefined)
        throw new DeployError('wrangler did not say which version it uploaded. Nothing was changed.')
      return last.version_id
    },
    setShares: (versions) => {
      const specs = [...versions].map(([id, share]) => `${id}@${share}%`)
      return wrangler.run(
        'versions',
        'deploy',
        ...specs,
        '-y',
        '-c',
        config,
        '--durable-objects-code-update-mode',
        'immediate',
      )
    },
    state: async () => FeedState.safeParse(parseJson(await readStatus(url))).data?.state ?? 'no answer',
    sleep: (ms) => sleep(ms),
    log: note,
  })
  if (fault !== null) throw new DeployError(`The live Worker was not deployed: ${fault}.`)
}
