// Why a deploy stops.

/** The message is for the operator: the cause and the fix. */
export class DeployError extends Error {}
