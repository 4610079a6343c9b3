// `npm run build`: both Workers into dist, if anything changed.
import { build } from '../src/launch/build.node.ts'

await build(new URL('..', import.meta.url).pathname)
