import type { EventName } from '../notes.js'

/**
 * Differences between changes and workflow runs: the kinds they are stored as, and the event names
 * that do not follow from these.
 */
export interface ActivityNames {
  readonly activities: 'changes' | 'workflow_runs'
  readonly steps: 'steps' | 'workflow_steps'
  readonly activity: 'change' | 'workflow_run'
  readonly activityLink: 'change_id' | 'workflow_run_id'
  readonly stepLink: 'step_id' | 'workflow_step_id'
  /** The action of a step failed. */
  readonly actionFailed: readonly EventName[]
  /** A step was interrupted because its process ended. */
  readonly processingFailed: readonly EventName[]
  /** A transition is waiting for the database. */
  readonly transitionDelayed: EventName
  /** A transition was given up. */
  readonly transitionFailed: readonly EventName[]
}

export const CHANGES: ActivityNames = {
  activities: 'changes',
  steps: 'steps',
  activity: 'change',
  activityLink: 'change_id',
  stepLink: 'step_id',
  actionFailed: ['error:step:action'],
  processingFailed: ['error:step:processing'],
  transitionDelayed: 'error:steps:transient_error',
  transitionFailed: ['error:step:fsm_failure', 'api:steps:error'],
}

export const WORKFLOW_RUNS: ActivityNames = {
  activities: 'workflow_runs',
  steps: 'workflow_steps',
  activity: 'workflow_run',
  activityLink: 'workflow_run_id',
  stepLink: 'workflow_step_id',
  actionFailed: ['error:workflow_step:run_failure', 'api:workflow_steps:error'],
  processingFailed: ['error:workflow_step:run_failure', 'api:workflow_steps:error'],
  transitionDelayed: 'error:workflow_step:fsm_failure',
  transitionFailed: ['api:workflow_steps:error'],
}
