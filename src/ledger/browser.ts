/* The part of the entry point that runs in browsers: without Node modules. */

export type { EventKind } from './entry.js'
export { formatVkey, type LedgerSigner, type OpenedNote, openNote } from './note.js'
export {
  checkConsistency,
  checkProof,
  type ConsistencyCheck,
  type ProofCheck,
  type ProvedEvent,
} from './proof.js'
