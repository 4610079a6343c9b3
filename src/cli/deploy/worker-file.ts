// A wrangler file, as far as a deploy reads or changes it. Everything else in the file passes through unchanged.

import * as z from 'zod'

const Database = z.looseObject({
  binding: z.string(),
  database_name: z.string(),
  database_id: z.string().optional(),
  migrations_dir: z.string(),
})

export const WorkerFile = z.looseObject({
  name: z.string(),
  main: z.string(),
  vars: z.record(z.string(), z.string()),
  durable_objects: z.looseObject({
    bindings: z.array(z.looseObject({ name: z.string(), class_name: z.string(), script_name: z.string().optional() })),
  }),
  services: z.array(z.looseObject({ binding: z.string(), service: z.string() })).default([]),
  d1_databases: z.array(Database).default([]),
  r2_buckets: z.array(z.looseObject({ binding: z.string(), bucket_name: z.string() })).default([]),
  kv_namespaces: z.array(z.looseObject({ binding: z.string(), id: z.string().optional() })).default([]),
  ratelimits: z.array(z.looseObject({ name: z.string(), namespace_id: z.string() })).default([]),
  routes: z.array(z.union([z.string(), z.looseObject({ pattern: z.string() })])).default([]),
  workers_dev: z.boolean(),
  assets: z.looseObject({ directory: z.string() }).optional(),
  secrets: z.looseObject({ required: z.array(z.string()) }).optional(),
})
export type WorkerFile = z.infer<typeof WorkerFile>
