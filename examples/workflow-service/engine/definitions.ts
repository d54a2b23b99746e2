import { flag, oneOf, type Reader, record, text, textList, wholeNumber } from '../attributes.js'
import { APPROVERS } from '../users.js'

const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/
const fileName = text({ pattern: FILE_NAME, expected: 'a file name' })
const POOL = /^[a-z_]+$/
const PATH = /^\/(?!\/)/

/** The actions of steps, and the attributes that their definitions take. */
const ACTIONS = {
  wait: record({ ms: wholeNumber(0, 60_000, 100) }),
  http_check: record({ path: text({ pattern: PATH, expected: 'a path of this service' }) }),
  write_file: record({ path: fileName, content: text({ empty: true }) }),
  checksum: record({ path: fileName }),
  fail: record({ message: text({ fallback: 'the step failed on purpose' }) }),
  approval: record({ requires_approval_from: textList(APPROVERS) }),
  manual: record({}),
  use_slot: record({
    pool: text({ pattern: POOL, expected: 'the name of a pool' }),
    ms: wholeNumber(0, 60_000, 100),
  }),
  run_in_pod: record({ ms: wholeNumber(0, 60_000, 100), stubborn: flag(false) }),
  git_clone: record({ git_remote_id: text() }),
  lock_database: record({ ms: wholeNumber(1, 3000, 1500) }),
} as const satisfies Record<string, Reader<object>>

export type StepAction = keyof typeof ACTIONS

/** A step as the user describes it. */
export type StepDefinition = {
  readonly [Action in StepAction]: {
    readonly action: Action
    readonly name: string
  } & Readonly<ReturnType<(typeof ACTIONS)[Action]>>
}[StepAction]

const readCommon = record({
  action: oneOf(Object.keys(ACTIONS) as StepAction[]),
  name: text({ fallback: '' }),
})

export const stepDefinition: Reader<StepDefinition> = (value, pointer) => {
  const { action, name } = readCommon(value, pointer)
  const details = ACTIONS[action](value, pointer)
  return { action, name: name || action, ...details } as StepDefinition
}
