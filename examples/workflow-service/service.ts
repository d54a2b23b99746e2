import type { Background } from './background/background.js'
import type { Documents } from './documents/documents.js'
import type { Engine } from './engine/engine.js'
import type { Git } from './git/git.js'
import type { Note, NoteLive } from './notes.js'

/** What routes and background work share. */
export interface Service {
  readonly documents: Documents
  readonly note: Note
  readonly noteLive: NoteLive
  readonly background: Background
  readonly changes: Engine
  readonly workflowRuns: Engine
  /** Undefined if git is not installed. */
  readonly git: Git | undefined
  /** A temporary directory, removed when the service closes. */
  readonly workspace: string
}
