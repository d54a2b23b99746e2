import type { Background } from '../background/background.js'
import type { Documents } from '../documents/documents.js'
import type { Activity, Step } from '../model.js'
import type { Note } from '../notes.js'
import type { Timings } from '../timings.js'
import { endOf } from '../paths.js'
import type { Mirrors } from '../git/mirrors.js'
import type { Slots } from '../slots/slots.js'
import type { ForwardLog } from './log-forwarder.js'
import type { Pods } from './pods.js'
import type { ActivityNames } from './names.js'

export interface EngineContext {
  readonly names: ActivityNames
  readonly documents: Documents
  readonly note: Note
  readonly background: Background
  readonly timings: Timings
  /** The directory for an activity's files. */
  readonly directoryOf: (activityId: string) => string
  /** Moves the files of the activity's previous process there. */
  readonly takeFiles: (activity: Activity) => Promise<void>
  readonly slots: Slots
  /** Undefined for workflow runs. */
  readonly pods: Pods | undefined
  /** Undefined if git is not installed. */
  readonly mirrors: Mirrors | undefined
  readonly forwardLog: ForwardLog
  readonly get: (path: string, signal: AbortSignal) => Promise<Response>
}

type Facts = Readonly<Record<string, unknown>>

/** The data of every event about an activity: name, parent and links. */
export function activityFacts(names: ActivityNames, activity: Activity): Facts {
  const path = activity.node_path ?? activity.project_path
  return {
    name: activity.name,
    parent: path === null ? undefined : endOf(path),
    [names.activityLink]: activity.id,
    project_path: activity.project_path ?? undefined,
    node_path: activity.node_path ?? undefined,
  }
}

export function stepFacts(names: ActivityNames, activity: Activity, step: Step): Facts {
  return {
    ...activityFacts(names, activity),
    name: step.definition.name,
    [`${names.activity}_name`]: activity.name,
    [names.stepLink]: step.id,
  }
}

export function stepsOf({ documents, names }: EngineContext, activity: Activity): Step[] {
  return activity.step_ids.flatMap((id) => documents.get(names.steps, id) ?? [])
}
