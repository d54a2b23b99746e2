import type { OwnField, SOURCE } from '../event/own-fields.js'
import type {
  FlagPredicateName,
  ListPredicateName,
  OnePredicateName,
  PredicateName,
} from './predicates.js'

/** Applies a predicate; `0 f F false FALSE` invert it. */
type FlagValue = string | number | bigint | boolean | undefined

type TypedField = OwnField | typeof SOURCE

/** The values by which the own fields of events are compared. */
interface OwnValues extends Record<TypedField, unknown> {
  readonly id: string
  readonly type: string
  readonly username: string
  readonly system: boolean | 0 | 1 | string
  readonly created_at: string | Date
  readonly source: string
}

type OneOrMore<Value> = Value | readonly Value[]

/** The conditions on one own field. */
type OwnConditions<Field extends TypedField> = {
  readonly [Key in `${Field}_${OnePredicateName}`]?: OwnValues[Field] | undefined
} & {
  readonly [Key in `${Field}_${ListPredicateName}`]?:
    | OneOrMore<OwnValues[Field] | undefined>
    | undefined
} & {
  readonly [Key in `${Field}_${FlagPredicateName}`]?: FlagValue
}

/** Elements in a list, or by index. */
type Members<Element> = readonly Element[] | { readonly [index: string]: Element }

interface ConditionObject {
  readonly a?: unknown
  readonly attributes?: unknown
  readonly p?: PredicateName | undefined
  readonly predicate?: PredicateName | undefined
  readonly v?: unknown
  readonly values?: unknown
  readonly m?: string | undefined
  readonly combinator?: string | undefined
}

type SortObject = string | { readonly name: string; readonly dir?: string | undefined }

type Sorts = SortObject | Members<SortObject> | undefined

/**
 * The filter of a query as an object. The conditions on own fields are completed and have typed values. Those
 * on other attributes, whose types are not known, are `<name>_<predicate>`, with texts, numbers, booleans,
 * dates, and lists of these; `undefined` leaves a condition out.
 */
export type FilterObject = OwnConditions<'id'> &
  OwnConditions<'type'> &
  OwnConditions<'username'> &
  OwnConditions<'system'> &
  OwnConditions<'created_at'> &
  OwnConditions<typeof SOURCE> & {
    readonly [key: `${string}_${PredicateName}`]: unknown
    readonly m?: string | undefined
    readonly combinator?: string | undefined
    readonly g?: Members<FilterObject> | undefined
    readonly groupings?: Members<FilterObject> | undefined
    readonly c?: Members<ConditionObject> | undefined
    readonly conditions?: Members<ConditionObject> | undefined
    readonly s?: Sorts
    readonly sorts?: Sorts
  }
