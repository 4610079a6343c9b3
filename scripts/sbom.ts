// The software bill of materials of a release, in CycloneDX 1.6: the files of the release, the npm packages that they
// contain or install, and the requirements of the Python package. Invariant: equal input gives equal bytes.

import { createHash } from 'node:crypto'

/** A package in `packages` of package-lock.json. */
interface LockedPackage {
  readonly version?: string
  readonly license?: string
  /** Subresource integrity: `sha512-` and base64. */
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** A published file. */
export interface PublishedFile {
  readonly file: string
  readonly sha256: string
  readonly kind: 'application' | 'library'
  /** Name in its registry. */
  readonly name: string
  readonly registry: 'npm' | 'pypi'
  /** npm packages that it contains or installs. */
  readonly packages: readonly string[]
  /** Python requirements, such as `httpx>=0.23`. */
  readonly requirements: readonly string[]
}

export interface Release {
  readonly version: string
  readonly license: string
  /** ISO 8601. */
  readonly time: string
  /** Programs that built the files, with their versions. */
  readonly tools: Readonly<Record<string, string>>
  readonly files: readonly PublishedFile[]
  readonly lock: LockedPackages
}

interface Component {
  readonly 'bom-ref': string
  readonly [field: string]: unknown
}

export function bomText(release: Release): string {
  const { version, license, time, tools } = release
  const root = `weir-release-${version}`
  const graph = new Graph(release.lock)
  const files = release.files.map((file) => fileComponent(file, version, license))
  for (const { file, packages, requirements } of release.files)
    graph.dependencies.set(file, [
      ...packages.map((name) => graph.add(name, '')),
      ...requirements.map((requirement) => graph.require(requirement)),
    ])
  graph.dependencies.set(root, files.map(refOf))
  const components = [...files, ...[...graph.components.values()].sort(byRef)]
  const content = {
    metadata: {
      timestamp: time,
      lifecycles: [{ phase: 'build' }],
      tools: { components: Object.entries(tools).map(([name, of]) => ({ type: 'application', name, version: of })) },
      component: { type: 'application', 'bom-ref': root, name: 'weir', version, licenses: licensesOf(license) },
    },
    components,
    dependencies: [...graph.dependencies]
      .map(([ref, on]) => ({ ref, dependsOn: [...new Set(on)].sort() }))
      .sort((a, b) => (a.ref < b.ref ? -1 : 1)),
  }
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialNumber(content), version: 1 }
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`
}

const refOf = (component: Component) => component['bom-ref']
const byRef = (a: Component, b: Component) => (refOf(a) < refOf(b) ? -1 : 1)

function fileComponent(file: PublishedFile, version: string, license: string): Component {
  return {
    type: file.kind,
    'bom-ref': file.file,
    name: file.file,
    version,
    hashes: [{ alg: 'SHA-256', content: file.sha256 }],
    licenses: licensesOf(license),
    purl: purl(file.registry, file.name, version),
  }
}

/** Packages that were reached, and what each of them depends on. */
class Graph {
  readonly components = new Map<string, Component>()
  readonly dependencies = new Map<string, readonly string[]>()
  readonly #lock: LockedPackages

  constructor(lock: LockedPackages) {
    this.#lock = lock
  }

  /** Adds a package with all that it depends on, and returns its reference. `from`: path of the package that needs it. */
  add(name: string, from: string): string {
    const path = this.#find(name, from)
    const locked = path === null ? undefined : this.#lock[path]
    if (path === null || locked?.version === undefined)
      throw new Error(`package-lock.json lacks ${name}${from && `, which ${from} needs`}. Run npm install.`)
    const ref = purl('npm', name, locked.version)
    if (this.components.has(ref)) return ref
    this.components.set(ref, packageComponent(ref, name, locked))
    const needed = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
    // npm installs a peer only where something else needs it, or where it is not optional.
    const peers = Object.keys(locked.peerDependencies ?? {}).filter((peer) => this.#find(peer, path) !== null)
    this.dependencies.set(
      ref,
      [...new Set([...needed, ...peers])]
        .filter((one) => this.#find(one, path) !== null)
        .map((one) => this.add(one, path)),
    )
    return ref
  }

  /** Adds a Python requirement. It names a range, because pip chooses the version. */
  require(requirement: string): string {
    const [name = ''] = /^[\w.-]+/.exec(requirement) ?? []
    const ref = `pkg:pypi/${name}`
    const range = { name: 'weir:requires', value: requirement.slice(name.length) }
    this.components.set(ref, { type: 'library', 'bom-ref': ref, name, purl: ref, properties: [range] })
    this.dependencies.set(ref, [])
    return ref
  }

  /** The path where Node finds a package: beside the package that needs it, or above. */
  #find(name: string, from: string): string | null {
    for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
      const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
      if (this.#lock[path] !== undefined) return path
      if (folder === '') return null
    }
  }
}

function packageComponent(ref: string, name: string, { version, license, integrity }: LockedPackage): Component {
  const [algorithm, digest] = integrity?.split('-', 2) ?? []
  return {
    type: 'library',
    'bom-ref': ref,
    name,
    version,
    ...(algorithm === 'sha512' &&
      digest !== undefined && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
      }),
    ...(license !== undefined && { licenses: licensesOf(license) }),
    purl: ref,
  }
}

/** An SPDX expression, or the name that the author gave. */
function licensesOf(license: string): object[] {
  return /^[\w.+-]+$|^\(.*\)$| (?:AND|OR|WITH) /.test(license) && license !== 'UNLICENSED'
    ? [{ expression: license }]
    : [{ license: { name: license } }]
}

function purl(registry: PublishedFile['registry'], name: string, version: string): string {
  return `pkg:${registry}/${name.replace('@', '%40')}@${version}`
}

/** A UUID of version 8 made of the content, so that equal releases have equal numbers. */
function serialNumber(content: object): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex')
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
