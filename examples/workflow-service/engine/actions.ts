import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Documents } from '../documents/documents.js'
import type { Mirrors } from '../git/mirrors.js'
import type { Slots } from '../slots/slots.js'
import type { Pods } from './pods.js'
import type { StepAction, StepDefinition } from './definitions.js'

export interface ActionContext {
  /** A directory that the steps of one change share. */
  readonly directory: string
  /** Blocks all writes to the database; undefined for a database in memory. */
  readonly lockDatabase: Documents['lock']
  readonly slots: Slots
  readonly activityId: string
  readonly pods: Pods | undefined
  readonly mirrors: Mirrors | undefined
  /** The user who started the activity; null for a schedule. */
  readonly startedBy: string | null
  /** Sends a GET request to the service itself. */
  readonly get: (path: string, signal: AbortSignal) => Promise<Response>
  /** Aborted when the step is cancelled or aborted, or the service stops. */
  readonly signal: AbortSignal
  readonly stopping: AbortSignal
}

/** All actions but those that only wait for a user. */
export type Work = Exclude<StepAction, 'approval' | 'manual'>

type Definition<Action extends StepAction> = Extract<StepDefinition, { action: Action }>

type Actions = {
  readonly [Action in Work]: (
    definition: Definition<Action>,
    context: ActionContext,
  ) => Promise<string | null>
}

const ACTIONS: Actions = {
  wait: async ({ ms }, { signal }) => {
    await delay(ms, undefined, { signal })
    return null
  },

  http_check: async ({ path }, { get, signal }) => {
    const response = await get(path, signal)
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`GET ${path} returned ${response.status}`)
    return `${response.status}`
  },

  write_file: async ({ path, content }, { directory, signal }) => {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, path), content, { signal })
    return `${Buffer.byteLength(content)} bytes`
  },

  checksum: async ({ path }, { directory, signal }) => {
    const content = await readFile(join(directory, path), { signal })
    return createHash('sha256').update(content).digest('hex')
  },

  use_slot: async ({ pool, ms }, { slots, signal }) => {
    const free = await slots.acquire(pool, signal)
    try {
      await delay(ms, undefined, { signal })
    } finally {
      free()
    }
    return null
  },

  git_clone: async ({ git_remote_id }, { mirrors, directory, startedBy }) => {
    if (!mirrors) throw new Error('git is not installed')
    const mirror = await mirrors.mount(git_remote_id, startedBy)
    await mkdir(directory, { recursive: true })
    await mirrors.clone(mirror, join(directory, git_remote_id))
    return null
  },

  run_in_pod: async ({ ms, stubborn }, { pods, activityId, signal }) => {
    if (!pods) throw new Error('only changes have runner pods')
    await pods.run(activityId, ms, stubborn, signal)
    return null
  },

  fail: async ({ message }) => {
    throw new Error(message)
  },

  lock_database: async ({ ms }, { lockDatabase, stopping }) => {
    if (!lockDatabase) throw new Error('a database in memory cannot be locked')
    // The lock outlives the action, so that the next transition has to wait for it.
    await lockDatabase(ms, stopping)
    return `locked for ${ms} ms`
  },
}

export function performAction(
  definition: StepDefinition & { readonly action: Work },
  context: ActionContext,
): Promise<string | null> {
  const perform = ACTIONS[definition.action] as (
    definition: StepDefinition,
    context: ActionContext,
  ) => Promise<string | null>
  return perform(definition, context)
}
