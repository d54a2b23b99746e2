import { Problem } from '../problem.js'

export type ActivityStatus =
  | 'waiting'
  | 'running'
  | 'paused'
  | 'success'
  | 'error'
  | 'cancelled'
  | 'aborted'

export type StepStatus =
  | 'waiting'
  | 'running'
  | 'waiting_for_approval'
  | 'waiting_for_input'
  | 'success'
  | 'error'
  | 'system_error'
  | 'cancelled'
  | 'aborted'

interface Move<Status> {
  readonly from: readonly Status[]
  readonly to: Status
}

/** Every move that a change or a workflow run can make. */
const ACTIVITY_MOVES = {
  start: { from: ['waiting'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  resume: { from: ['paused'], to: 'running' },
  succeed: { from: ['running'], to: 'success' },
  fail: { from: ['running', 'paused'], to: 'error' },
  retry: { from: ['error', 'cancelled', 'aborted'], to: 'running' },
  cancel: { from: ['waiting', 'running', 'paused'], to: 'cancelled' },
  abort: { from: ['running', 'paused'], to: 'aborted' },
} as const satisfies Record<string, Move<ActivityStatus>>

const WAITING_FOR_USER = ['waiting_for_approval', 'waiting_for_input'] as const

/** Every move that a step can make. */
const STEP_MOVES = {
  start: { from: ['waiting'], to: 'running' },
  retry: { from: ['waiting', 'error', 'system_error', 'cancelled', 'aborted'], to: 'waiting' },
  ask_approval: { from: ['running'], to: 'waiting_for_approval' },
  ask_input: { from: ['running'], to: 'waiting_for_input' },
  succeed: { from: ['running'], to: 'success' },
  approve: { from: ['waiting_for_approval'], to: 'success' },
  continue: { from: ['waiting_for_input'], to: 'success' },
  reject: { from: ['waiting_for_approval'], to: 'aborted' },
  fail: { from: ['waiting', 'running'], to: 'error' },
  collapse: { from: ['waiting', 'running'], to: 'system_error' },
  cancel: { from: ['waiting', 'running', ...WAITING_FOR_USER], to: 'cancelled' },
  abort: { from: ['waiting', 'running', ...WAITING_FOR_USER], to: 'aborted' },
} as const satisfies Record<string, Move<StepStatus>>

export type ActivityMove = keyof typeof ACTIVITY_MOVES
export type StepMove = keyof typeof STEP_MOVES

/** The current status does not allow the move. */
export class IllegalMove extends Problem {
  constructor(what: 'activity' | 'step', move: string, status: string) {
    super(
      409,
      'ILLEGAL_TRANSITION',
      `the ${what} has the status ${status}, which does not allow ${move}`,
    )
  }
}

function follow<Status extends string>(
  what: 'activity' | 'step',
  name: string,
  { from, to }: Move<Status>,
  status: Status,
): Status {
  if (!from.includes(status)) throw new IllegalMove(what, name, status)
  return to
}

export const moveActivity = (status: ActivityStatus, move: ActivityMove): ActivityStatus =>
  follow<ActivityStatus>('activity', move, ACTIVITY_MOVES[move], status)

export const moveStep = (status: StepStatus, move: StepMove): StepStatus =>
  follow<StepStatus>('step', move, STEP_MOVES[move], status)

export const canMoveStep = (status: StepStatus, move: StepMove): boolean =>
  (STEP_MOVES[move].from as readonly StepStatus[]).includes(status)

export const isFinished = (status: ActivityStatus): boolean =>
  ['success', 'error', 'cancelled', 'aborted'].includes(status)
