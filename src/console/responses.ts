// Written by `npm run generate` from the schemas of endpoints: the answers that the console and the commands name.

type Usage = { period: { from: string; to: string }; totals: { calls: number; stream_minutes: number; pipeline_rows: number; credits: string }; by_day: Array<{ date: string; calls: number; stream_minutes: number; pipeline_rows: number; credits: string; parts?: Array<{ part: string; label: string; credits: string }> | undefined }>; by_key: Array<{ prefix: string | null; label: string; calls: number; stream_minutes: number; pipeline_rows: number; credits: string }>; by_type: Array<{ product: string; type: string; calls: number; stream_minutes: number; pipeline_rows: number; credits: string }> }
type AccountUsageRow = { date: string; hash: string; prefix: string | null; label: string | null; product: string; type: string; calls: number; stream_minutes: number; pipeline_rows: number; credits: string }
type Period = { since: number; until: number | null; credits: string; renews_with: string }
type OwnAccount = { account: string; plan: string; balance: string; spent: string; granted: string; held: string; of_plan: string; period: Period | null; credits_a_day: string; forecast: { ends: number | null; why: "spent" | "used_up" | "unused" | "renewed" | "far" }; limits: Array<{ limit: string; most: number | null; now: number | null }>; manages: boolean; why_not: string | null }
type OwnedKey = { hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; products: Array<"info" | "stream" | "rpc" | "data" | "graphql" | "platform">; created: number; expires: number | null; revoked: number | null; last_used: number | null; cap: string | null; ranges: Array<string> | null; pipelines: "own" | "all" | null; replaced_by: string | null; cap_remaining: string | null; spent_30_days: string | null }
type KeyReach = { pipelines: Array<{ id: string; name: string; topic: string; destination: string; stops: boolean; destination_set: boolean }>; keys: Array<{ hash: string; prefix: string; label: string }>; webhook: string | null }
type RefusedCall = { at: number; request_id: string; prefix: string; product: string; type: string; code: string; message: string }
type Refused = { at: number; request_id: string; account: string; prefix: string; product: string; type: string; code: string; message: string }
type OpenStream = { type: string; body: string; prefix: string | null; since: number; credits_a_minute: string }
type StreamToken = { token: string; expires: number; coins: Array<string> | null; channels: Array<string>; time: number }
type InvoiceSums = { month: string; from: string; to: string; is_final: boolean; opening: string; granted: string; expired: string; charged: string; written_off: string; closing: string }
type Invoice = { account: string; month: string; from: string; to: string; is_final: boolean; opening: string; granted: string; expired: string; charged: string; written_off: string; closing: string; given: Array<{ at: number; plan: string | null; credits: string }>; lines: Array<{ product: string; type: string; prefix: string | null; label: string; count: number; credits: string }> }
type BalanceDay = { date: string; opening: string; granted: string; expired: string; charged: string; written_off: string; closing: string }
type Webhook = { account: string; url: string; thresholds: Array<string>; armed: Array<string>; events: Array<{ id: string; type: "credits.low" | "pipeline.paused"; threshold: string | null; created: number; state: "due" | "delivered" | "given_up"; attempts: number; next: number | null; last: string | null }> }
type Order = { number: string; account: string; credits: string; amount: string; currency: string; provider: "manual" | "stripe"; state: "open" | "paid" | "failed" | "void"; url: string | null; created: number; paid: number | null; granted: number | null; refunded: string; note: string | null }
type PipelineOfAccount = { id: string; account: string; name: string; topic: string; destination: string; status: string; created: number; updated: number }
type FoundAccount = { account: string; plan: string }
type FoundKey = { hash: string; prefix: string; label: string; account: string; revoked: number | null }
type AuditLine = { number: number; at: number; actor: string; role: "support" | "billing" | "owner"; action: string; target: string; account: string | null; sent: string; request_id: string; status: number | null }
type ListedAccount = { account: string; plan: string; created: number; keys: number; last_used: number | null; balance: string | null }
type Terms = { rest_requests_per_second?: number | null | undefined; info_requests_per_second?: number | undefined; stream_connections?: number | undefined; stream_subscriptions?: number | undefined; stream_messages_per_minute?: number | undefined; credits?: string | undefined }
type Grant = { account: string; id: string; credits: string; created: number }
type Plan = { name: string; credits: string; period: "once" | "month"; days: number | null; rest_requests_per_second: number | null; info_requests_per_second: number; stream_connections: number; stream_subscriptions: number; stream_messages_per_minute: number; custom: boolean; accounts: number }
type StaffMember = { name: string; role: "support" | "billing" | "owner"; created: number; revoked: number | null }
type RetentionDue = { product: "events" | "books" | "checkpoints"; days: number | null; objects: number; bytes: number; from_height: number | null; to_height: number | null; from_ms: number | null; to_ms: number | null }

/** By id of the endpoint. */
export interface Responses {
  usage: Usage
  accountUsage: { account: string; from: string; to: string; totals: { calls: number; stream_minutes: number; pipeline_rows: number; credits: string }; rows: Array<AccountUsageRow>; next: string | null }
  ownAccount: OwnAccount
  ownKeys: { keys: Array<OwnedKey>; next: string | null; counted: number; at_most: number }
  createOwnKey: { key: string; hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; warnings?: Array<string> | undefined }
  rotateOwnKey: { key: string; hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; old_key_ends: number }
  listKeys: { keys: Array<{ hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; products: Array<"info" | "stream" | "rpc" | "data" | "graphql" | "platform">; created: number; expires: number | null; revoked: number | null; last_used: number | null; cap: string | null; ranges: Array<string> | null; pipelines: "own" | "all" | null; replaced_by: string | null; cap_remaining: string | null; balance: string | null }>; next: string | null }
  createKey: { key: string; hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; warnings?: Array<string> | undefined }
  rotateKey: { key: string; hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; old_key_ends: number }
  revokeKey: { hash: string; prefix: string; account: string; label: string; revoked: number; reach: KeyReach }
  keyReach: KeyReach
  ownRefusals: { refusals: Array<RefusedCall>; since: number; counts: Array<{ code: string; count: number }> }
  listRefusals: { refusals: Array<Refused>; next: number | null }
  ownStreams: { sockets: number; subscriptions: number; credits_a_minute: string; streams: Array<OpenStream> }
  makeStreamToken: StreamToken
  ownInvoices: { invoices: Array<InvoiceSums> }
  ownInvoice: Invoice
  ownBalances: { days: Array<BalanceDay> }
  ownWebhook: { webhook: Webhook | null }
  setOwnWebhook: { account: string; url: string; thresholds: Array<string>; armed: Array<string>; events: Array<{ id: string; type: "credits.low" | "pipeline.paused"; threshold: string | null; created: number; state: "due" | "delivered" | "given_up"; attempts: number; next: number | null; last: string | null }>; secret: string | null }
  testOwnWebhook: { account: string; delivered: boolean; answer: string }
  setWebhook: { account: string; url: string; thresholds: Array<string>; armed: Array<string>; events: Array<{ id: string; type: "credits.low" | "pipeline.paused"; threshold: string | null; created: number; state: "due" | "delivered" | "given_up"; attempts: number; next: number | null; last: string | null }>; secret: string | null }
  testWebhook: { account: string; delivered: boolean; answer: string }
  showCheckout: { provider: "manual" | "stripe" | null; currency: string; packages: Array<{ name: string; credits: string; amount: string }>; lots: { credits: string; amount: string; most: number } | null; instructions: string; orders: Array<Order> }
  checkout: { order: Order }
  listOrders: { orders: Array<Order>; next: string | null }
  allPipelines: { pipelines: Array<PipelineOfAccount>; next: number | null }
  business: { from: string; to: string; accounts: number; keys: number; open_orders: number; paid: Array<{ currency: string; orders: number; amount: string; refunded: string }>; sign_up: { per_day: number; links: number; networks: number; most_of_network: number; domains: number; most_of_domain: number } | null; totals: { granted: string; spent: string; calls: number; stream_minutes: number; pipeline_rows: number; refusals: number }; days: Array<{ date: string; granted: string; spent: string; calls: number; stream_minutes: number; pipeline_rows: number; refusals: number; by_product: Record<string, string> }>; refused: Array<{ code: string; count: number }>; million_usd: string | null; sold_usd: string | null; spent_usd: string | null; cost: { standing_usd: string; calls_usd: string; total_usd: string; relays: number; assumptions: Array<string> } | null }
  search: { accounts: Array<FoundAccount>; keys: Array<FoundKey>; refusals: Array<Refused>; audit: Array<AuditLine> }
  listAccounts: { accounts: Array<ListedAccount>; next: string | null }
  ensureAccount: { account: string; created: boolean; balance: string; spent: string; granted: string }
  showAccount: { account: string; plan: string; terms: Terms | null; created: number; balance: string; spent: string; granted: string; held: string; written_off: string; period: Period | null; keys: Array<{ hash: string; prefix: string; account: string; label: string; kind: "api" | "service"; products: Array<"info" | "stream" | "rpc" | "data" | "graphql" | "platform">; created: number; expires: number | null; revoked: number | null; last_used: number | null; cap: string | null; ranges: Array<string> | null; pipelines: "own" | "all" | null; replaced_by: string | null; cap_remaining: string | null }> }
  grantCredits: { account: string; repeated: boolean; balance: string; spent: string; granted: string }
  listGrants: { grants: Array<Grant>; next: number | null }
  listPlans: { plans: Array<Plan> }
  setPlan: Plan
  applyPlan: { told: number; next: string | null }
  listAudit: { audit: Array<AuditLine>; next: number | null }
  listStaff: { staff: Array<StaffMember> }
  createStaff: { token: string; name: string; role: "support" | "billing" | "owner" }
  showBackfill: { chain: string; from: { height: number; time: number } | null; before: { height: number; time: number } | null; gaps: Array<{ from: number; to: number; after_ms: number; before_ms: number }>; next: number | null }
  backfill: { blocks: number; segments: number; bytes: number; next: number | null }
  showRetention: { bytes: number; most_bytes: number | null; due: Array<RetentionDue> }
  applyRetention: { objects: number; bytes: number }
}
