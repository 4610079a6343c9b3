// Why a pipeline stands still that nothing but its owner can set going.

/** What the record wants is not to be had here: only another record can change that. */
export class CannotRun extends Error {}
