// Every endpoint of the REST surfaces, in the order of the published document. Adding one is one file in endpoints/ and
// one line here.

import type { Endpoint } from './endpoint.ts'
import { accountUsage } from './endpoints/accountUsage.ts'
import { adoptPipeline } from './endpoints/adoptPipeline.ts'
import { allPipelines } from './endpoints/allPipelines.ts'
import { applyPlan } from './endpoints/applyPlan.ts'
import { applyRetention } from './endpoints/applyRetention.ts'
import { backfill } from './endpoints/backfill.ts'
import { balances } from './endpoints/balances.ts'
import { business } from './endpoints/business.ts'
import { changeKey } from './endpoints/changeKey.ts'
import { changeOwnKey } from './endpoints/changeOwnKey.ts'
import { changePipeline } from './endpoints/changePipeline.ts'
import { changePlan } from './endpoints/changePlan.ts'
import { checkout } from './endpoints/checkout.ts'
import { clearOwnWebhook } from './endpoints/clearOwnWebhook.ts'
import { clearWebhook } from './endpoints/clearWebhook.ts'
import { compatUsage } from './endpoints/compatUsage.ts'
import { createKey } from './endpoints/createKey.ts'
import { createOwnKey } from './endpoints/createOwnKey.ts'
import { createPipeline } from './endpoints/createPipeline.ts'
import { createStaff } from './endpoints/createStaff.ts'
import { ensureAccount } from './endpoints/ensureAccount.ts'
import { grantCredits } from './endpoints/grantCredits.ts'
import { historyCost } from './endpoints/historyCost.ts'
import { historyCoverage } from './endpoints/historyCoverage.ts'
import { historyFiles } from './endpoints/historyFiles.ts'
import { historyGaps } from './endpoints/historyGaps.ts'
import { historySums } from './endpoints/historySums.ts'
import { keyReach } from './endpoints/keyReach.ts'
import { listAccounts } from './endpoints/listAccounts.ts'
import { listAudit } from './endpoints/listAudit.ts'
import { listGrants } from './endpoints/listGrants.ts'
import { listKeys } from './endpoints/listKeys.ts'
import { listOrders } from './endpoints/listOrders.ts'
import { listPipelines } from './endpoints/listPipelines.ts'
import { listPlans } from './endpoints/listPlans.ts'
import { listRefusals } from './endpoints/listRefusals.ts'
import { listStaff } from './endpoints/listStaff.ts'
import { makeStreamToken } from './endpoints/makeStreamToken.ts'
import { ownAccount } from './endpoints/ownAccount.ts'
import { ownBalances } from './endpoints/ownBalances.ts'
import { ownInvoice } from './endpoints/ownInvoice.ts'
import { ownInvoiceCsv } from './endpoints/ownInvoiceCsv.ts'
import { ownInvoices } from './endpoints/ownInvoices.ts'
import { ownKey } from './endpoints/ownKey.ts'
import { ownKeyReach } from './endpoints/ownKeyReach.ts'
import { ownKeys } from './endpoints/ownKeys.ts'
import { ownKeyUsage } from './endpoints/ownKeyUsage.ts'
import { ownRefusals } from './endpoints/ownRefusals.ts'
import { ownStreams } from './endpoints/ownStreams.ts'
import { ownWebhook } from './endpoints/ownWebhook.ts'
import { payOrder } from './endpoints/payOrder.ts'
import { pipelineLogs } from './endpoints/pipelineLogs.ts'
import { pipelineMetrics } from './endpoints/pipelineMetrics.ts'
import { pipelineStatus } from './endpoints/pipelineStatus.ts'
import { redeliverPipeline } from './endpoints/redeliverPipeline.ts'
import { removePipeline } from './endpoints/removePipeline.ts'
import { removePlan } from './endpoints/removePlan.ts'
import { resetFeed } from './endpoints/resetFeed.ts'
import { revokeKey } from './endpoints/revokeKey.ts'
import { revokeOwnKey } from './endpoints/revokeOwnKey.ts'
import { revokeStaff } from './endpoints/revokeStaff.ts'
import { rotateKey } from './endpoints/rotateKey.ts'
import { rotateOwnKey } from './endpoints/rotateOwnKey.ts'
import { search } from './endpoints/search.ts'
import { setOwnWebhook } from './endpoints/setOwnWebhook.ts'
import { setPipelineStatus } from './endpoints/setPipelineStatus.ts'
import { setPlan } from './endpoints/setPlan.ts'
import { setWebhook } from './endpoints/setWebhook.ts'
import { showAccount } from './endpoints/showAccount.ts'
import { showBackfill } from './endpoints/showBackfill.ts'
import { showCheckout } from './endpoints/showCheckout.ts'
import { showPipeline } from './endpoints/showPipeline.ts'
import { showRetention } from './endpoints/showRetention.ts'
import { showWebhook } from './endpoints/showWebhook.ts'
import { testOwnWebhook } from './endpoints/testOwnWebhook.ts'
import { testPipeline } from './endpoints/testPipeline.ts'
import { testWebhook } from './endpoints/testWebhook.ts'
import { usage } from './endpoints/usage.ts'
import { voidOrder } from './endpoints/voidOrder.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  usage,
  compatUsage,
  ownKey,
  ownKeyUsage,
  ownAccount,
  ownKeys,
  createOwnKey,
  changeOwnKey,
  rotateOwnKey,
  revokeOwnKey,
  ownKeyReach,
  ownRefusals,
  ownStreams,
  ownInvoices,
  ownBalances,
  ownInvoice,
  ownInvoiceCsv,
  ownWebhook,
  setOwnWebhook,
  testOwnWebhook,
  clearOwnWebhook,
  makeStreamToken,
  balances,
  showCheckout,
  checkout,
  listPipelines,
  createPipeline,
  showPipeline,
  setPipelineStatus,
  changePipeline,
  removePipeline,
  pipelineStatus,
  pipelineLogs,
  pipelineMetrics,
  testPipeline,
  redeliverPipeline,
  adoptPipeline,
  historyCoverage,
  historyGaps,
  historyCost,
  historyFiles,
  historySums,
  business,
  search,
  listAccounts,
  listGrants,
  listRefusals,
  allPipelines,
  listAudit,
  listStaff,
  createStaff,
  revokeStaff,
  listPlans,
  setPlan,
  applyPlan,
  removePlan,
  ensureAccount,
  showAccount,
  accountUsage,
  changePlan,
  grantCredits,
  listOrders,
  payOrder,
  voidOrder,
  createKey,
  listKeys,
  changeKey,
  rotateKey,
  revokeKey,
  keyReach,
  setWebhook,
  showWebhook,
  testWebhook,
  clearWebhook,
  resetFeed,
  showBackfill,
  backfill,
  showRetention,
  applyRetention,
]
