import type { Agents } from './agents/agents.js'
import type { Workers } from './autoscaler/workers.js'
import type { Background } from './background/background.js'
import type { Children } from './children/child.js'
import type { Documents } from './documents/documents.js'
import type { Engine } from './engine/engine.js'
import type { Git } from './git/git.js'
import type { Images } from './images/images.js'
import type { Mirrors } from './git/mirrors.js'
import type { Note, NoteLive } from './notes.js'
import type { Settings } from './settings.js'
import type { Timings } from './timings.js'
import type { Vault } from './vault/vault.js'

/** Parts that routes and background work share. */
export interface Service {
  readonly documents: Documents
  readonly note: Note
  readonly noteLive: NoteLive
  readonly background: Background
  readonly settings: Settings
  readonly timings: Timings
  readonly changes: Engine
  readonly workflowRuns: Engine
  readonly children: Children
  readonly images: Images
  readonly workers: Workers
  readonly agents: Agents
  /** Runs cleaning rules. */
  readonly clean: (rules: readonly string[]) => Promise<void>
  readonly vault: Vault
  /** Undefined if git is not installed. */
  readonly git: Git | undefined
  readonly mirrors: Mirrors | undefined
  /** A temporary directory, removed when the service closes. */
  readonly workspace: string
}
