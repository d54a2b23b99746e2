import type { OcsfMapping } from '../event/event-types.js'
import { isOcsfPath, readTextTemplate } from './ocsf-template.js'

/*
 * The classes of OCSF 1.8.0, each with its greatest `activity_id` other than 99:
 * https://github.com/ocsf/ocsf-schema/tree/v1.8.0/events
 */
const CLASSES = [
  '0:0',
  // System activity
  '1001:14 1002:2 1003:4 1004:9 1005:3 1006:6 1007:5 1008:10 1009:1 1010:5',
  // Findings
  '2001:3 2002:3 2003:3 2004:3 2005:3 2006:4 2007:3 2008:3',
  // Identity and access management
  '3001:12 3002:7 3003:2 3004:13 3005:2 3006:8',
  // Network activity
  '4001:7 4002:9 4003:6 4004:9 4005:8 4006:6 4007:7 4008:6 4009:5 4010:16 4011:3 4012:3 4013:7 4014:3',
  // Discovery
  '5001:2 5002:2 5003:2 5004:2 5006:1 5007:1 5008:1 5009:1 5010:1 5011:1 5012:1 5013:1 5014:1 5015:1',
  '5016:1 5017:1 5018:1 5019:2 5020:2 5021:2 5022:1 5023:2 5040:1',
  // Application activity
  '6001:8 6002:8 6003:4 6004:4 6005:10 6006:17 6007:10 6008:2',
  // Remediation and unmanned systems
  '7001:5 7002:5 7003:5 7004:5 8001:2 8002:2',
]

const lastActivities: ReadonlyMap<number, number> = new Map(
  CLASSES.flatMap((line) => line.split(' ')).map((pair) => {
    const [uid, last] = pair.split(':')
    return [Number(uid), Number(last)]
  }),
)

/** The activities of DNS Activity are not numbered consecutively. */
const DNS_ACTIVITY = 4003
const DNS_ACTIVITIES: ReadonlySet<number> = new Set([1, 2, 6])

export const OTHER_ACTIVITY = 99

function isActivity(ofClass: number, activity: number): boolean {
  if (activity === 0 || activity === OTHER_ACTIVITY) return true
  if (ofClass === DNS_ACTIVITY) return DNS_ACTIVITIES.has(activity)
  return Number.isInteger(activity) && activity > 0 && activity <= lastActivities.get(ofClass)!
}

/** Attributes that `toOcsf` sets itself. */
const OWN_ATTRIBUTES: ReadonlySet<string> = new Set(
  'activity_id category_uid class_uid metadata severity_id time type_uid unmapped'.split(' '),
)

/** Reason why the value is not a valid mapping to OCSF; `undefined` if it is valid. */
export function ocsfFault(mapping: OcsfMapping): string | undefined {
  if (mapping === null || typeof mapping !== 'object') return 'must be an object with a class'
  const { class: ofClass, activity, set = {} } = mapping
  if (!lastActivities.has(ofClass)) return `class ${String(ofClass)} is not a class of OCSF 1.8.0`
  if (activity !== undefined && !isActivity(ofClass, activity))
    return `activity ${String(activity)} is not an activity of class ${ofClass}`
  if (set === null || typeof set !== 'object') return 'set must be an object'
  for (const [path, value] of Object.entries(set)) {
    const fault = setFault(path, value)
    if (fault !== undefined) return `set ${JSON.stringify(path)}: ${fault}`
  }
  return undefined
}

function setFault(path: string, value: string | number): string | undefined {
  if (!isOcsfPath(path)) return 'must be names of attributes, joined by dots'
  const [first] = path.split('.')
  if (OWN_ATTRIBUTES.has(first!)) return `${first!} cannot be set`
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'must be a text or a number'
  if (typeof value !== 'string') return 'must be a text or a number'
  try {
    readTextTemplate(value)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
