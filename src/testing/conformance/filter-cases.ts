import type { JsonObject } from '../../event/event.js'
import type { QueryObject } from '../../filter/parse.js'

/** Events by label, and for each query the labels of the matching events in recorded order. */
export interface FilterTable {
  readonly title: string
  readonly events: Readonly<Record<string, JsonObject>>
  readonly queries: readonly (readonly [filter: QueryObject['filter'], matching: string])[]
}

/** The truth table: every type of value against every predicate. */
const values: FilterTable = {
  title: 'predicates by type of value',
  events: {
    text: { v: 'Alpha' },
    empty: { v: '' },
    digits: { v: '7' },
    number: { v: 7 },
    big: { v: 1000 },
    negative: { v: -2.5 },
    yes: { v: true },
    no: { v: false },
    null: { v: null },
    missing: {},
    list: { v: ['Alpha', 'beta'] },
    mixed: { v: [1, 'x', null] },
    emptyList: { v: [] },
    object: { v: { x: 1 } },
    emptyObject: { v: {} },
  },
  queries: [
    [{ v_eq: 'Alpha' }, 'text list'],
    [{ v_eq: 'alpha' }, ''],
    [{ v_eq: '7' }, 'digits number'],
    [{ v_eq: '007' }, 'number'],
    [{ v_eq: '+7.0' }, 'number'],
    [{ v_eq: '1e3' }, 'big'],
    [{ v_eq: '-2.5' }, 'negative'],
    [{ v_eq: 'true' }, 'yes'],
    [{ v_eq: 'T' }, 'yes'],
    [{ v_eq: '1' }, 'yes mixed'],
    [{ v_eq: '0' }, 'no'],
    [{ v_eq: false }, 'no'],
    [{ v_not_eq: 'Alpha' }, 'empty digits number big negative yes no mixed'],
    [{ v_not_eq: 7 }, 'text empty big negative yes no list mixed'],
    [{ v_in: ['Alpha', '7'] }, 'text digits number list'],
    [{ v_in: 'beta' }, 'list'],
    [{ v_not_in: ['Alpha', '7'] }, 'empty big negative yes no mixed'],
    [{ v_lt: '7' }, 'empty negative mixed'],
    [{ v_lteq: '7' }, 'empty digits number negative mixed'],
    [{ v_gt: '7' }, 'text big list mixed'],
    [{ v_gteq: '7' }, 'text digits number big list mixed'],
    [{ v_gt: 'B' }, 'list mixed'],
    [{ v_lt: 'true' }, 'text empty digits no list'],
    [{ v_gteq: 't' }, 'yes mixed'],
    [{ v_cont: 'LPH' }, 'text list'],
    [{ v_i_cont: 'ALPHA' }, 'text list'],
    [{ v_not_cont: 'LPH' }, 'empty digits'],
    [{ v_not_i_cont: 'LPH' }, 'empty digits'],
    [{ v_start: 'al' }, 'text list'],
    [{ v_not_start: 'al' }, 'empty digits'],
    [{ v_end: 'A' }, 'text list'],
    [{ v_not_end: 'A' }, 'empty digits'],
    [{ v_matches: 'a%A' }, 'text list'],
    [{ v_matches: '_' }, 'digits mixed'],
    [{ v_matches: '%' }, 'text empty digits list mixed'],
    [{ v_does_not_match: '_' }, 'text empty list'],
    [{ v_true: 'yes' }, 'yes'],
    [{ v_true: '0' }, 'text empty digits number big negative no list mixed'],
    [{ v_not_true: '1' }, 'text empty digits number big negative no list mixed'],
    [{ v_not_true: 'F' }, 'yes'],
    [{ v_false: 'yes' }, 'no'],
    [{ v_false: 'false' }, 'text empty digits number big negative yes list mixed'],
    [{ v_not_false: '1' }, 'text empty digits number big negative yes list mixed'],
    [{ v_null: '1' }, 'null missing emptyList emptyObject'],
    [{ v_null: '0' }, 'text empty digits number big negative yes no list mixed object'],
    [{ v_not_null: '1' }, 'text empty digits number big negative yes no list mixed object'],
    [{ v_not_null: 'f' }, 'null missing emptyList emptyObject'],
    [{ v_blank: '1' }, 'empty null missing emptyList emptyObject'],
    [{ v_present: '1' }, 'text digits number big negative yes no list mixed object'],
    [{ v_present: 'FALSE' }, 'empty null missing emptyList emptyObject'],
    [{ v_eq_any: ['Alpha', '7'] }, 'text digits number list'],
    [{ v_eq_all: ['Alpha', 'beta'] }, 'list'],
    [{ v_not_eq_all: ['Alpha', '7'] }, 'empty big negative yes no mixed'],
    [{ v_not_eq_any: ['Alpha', '7'] }, 'text empty digits number big negative yes no list mixed'],
    [{ v_gt_all: ['0', '500'] }, 'text digits big list mixed'],
    [{ v_lt_any: ['-1', '2'] }, 'empty negative mixed'],
    [{ v_in_any: ['beta', '1000'] }, 'big list'],
    [{ v_cont_all: ['al', 'ph'] }, 'text list'],
    [{ v_cont_any: ['zz', 'x'] }, 'mixed'],
    [{ v_start_any: ['x', '7'] }, 'digits mixed'],
    [{ v_not_end_all: ['a', '7'] }, 'empty'],
    [{ v_matches_any: ['b%', '7'] }, 'digits list'],
    [{ v_does_not_match_all: ['a%', '7'] }, 'empty'],
    [{ m: 'or', v_eq: 'x', v_true: '1' }, 'yes mixed'],
    [{ v_not_null: '1', v_not_in: ['Alpha'], v_gt: '7' }, 'big mixed'],
    [{ v_eq: '  Alpha ' }, 'text list'],
    [{ v_eq: ' ', v_cont: 'beta' }, 'list'],
    [{ v_in: ['', ' ', 'beta'] }, 'list'],
    [{ g: [{ v_eq: 'Alpha', v_end: 'a' }, { v_eq: 'none' }], m: 'or' }, 'text list'],
    [{ c: [{ a: 'v', p: 'eq', v: 'Alpha' }] }, 'text list'],
    [{ c: { 0: { a: { 0: { name: 'v' } }, p: 'in', v: { 0: { value: '7' } } } } }, 'digits number'],
  ],
}

/** One attribute name that matches several paths. */
const names: FilterTable = {
  title: 'names of nested attributes',
  events: {
    nested: { parent: { code: 'c1', node_type: 'project' } },
    flat: { parent_code: 'c1', parent_node_type: 'asset' },
    deep: { a: { b: { c: 1 } } },
    left: { a_b: { c: 1 } },
    right: { a: { b_c: 1 } },
    joined: { a_b_c: 1 },
    array: { a: [{ b: { c: 1 } }, { b: { c: 2 } }] },
    both: { a: { b: { c: 3 } }, a_b_c: 4 },
    whole: { x_or_y: 'whole', x: 'part' },
    x: { x: 'part' },
    y: { y: 'part', x: 'other' },
    prototype: { constructor: 'k', toString: 1 },
    shadow: { attributes: { type: 'inner' }, not: 1, user: { name: 'ann' } },
  },
  queries: [
    [{ parent_code_eq: 'c1' }, 'nested flat'],
    [{ parent_code_eq: 'c1', parent_node_type_eq: 'project' }, 'nested'],
    [{ a_b_c_eq: '1' }, 'deep left right joined array'],
    [{ a_b_c_not_eq: '1' }, 'both'],
    [{ a_b_c_not_eq: '9' }, 'deep left right joined array both'],
    [{ a_b_c_in: ['2', '4'] }, 'array both'],
    [{ a_b_c_gt: '2' }, 'both'],
    [{ a_b_not_null: '1' }, 'deep left array both'],
    [{ a_not_null: '1' }, 'deep right array both'],
    [{ a_b_c_null: '1', parent_code_null: '1', x_null: '1' }, 'prototype shadow'],
    [{ a_eq: '1' }, ''],
    [{ x_or_y_eq: 'part' }, 'x y'],
    [{ x_or_y_eq: 'whole' }, 'whole'],
    [{ x_and_y_not_null: '1' }, 'y'],
    [{ x_or_y_not_eq: 'part' }, 'whole y'],
    [{ c: [{ a: ['x', 'y'], m: 'or', p: 'eq', v: ['part'] }] }, 'whole x y'],
    [{ constructor_eq: 'k' }, 'prototype'],
    [{ toString_eq: '1' }, 'prototype'],
    [{ __proto___not_null: '1' }, ''],
    [{ constructor_name_not_null: '1' }, ''],
    [{ attributes_type_eq: 'inner' }, 'shadow'],
    [{ type_eq: 'x' }, 'x'],
    [{ type_or_x_eq: 'y' }, 'y'],
    [{ type_in: ['deep', 'left'] }, 'deep left'],
    [{ not_eq: '1' }, 'shadow'],
    [{ user_name_start: 'AN' }, 'shadow'],
    [{ username_eq: 'someone' }, ''],
    [{ username_null: '1', type_start: 'WHO' }, 'whole'],
    [{ system_true: '1', a_b_c_lt: '2' }, 'deep left right joined array'],
    [{ system_eq: 'false' }, ''],
  ],
}

/** A name that can be split into keys in thousands of ways. */
const longName = 'a_name_that_has_more_segments_than_any_event_of_a_real_log_ever_will'

const longNames: FilterTable = {
  title: 'names of many segments',
  events: {
    flat: { [longName]: 1 },
    nested: { a: { name_that: { has_more_segments_than_any: { [longName.slice(39)]: 2 } } } },
    list: { a_name: [[{ that_has: 0 }], [{ [longName.slice(7)]: [3, 4] }]] },
    beginning: {
      [longName.slice(0, -5)]: 1,
      [longName.slice(0, 6)]: { [longName.slice(7, -5)]: 1 },
    },
    beyond: { [`${longName}_x`]: 1, [longName]: {} },
    end: { [longName.slice(2)]: 1 },
  },
  queries: [
    [{ [`${longName}_gt`]: '0' }, 'flat nested list'],
    [{ [`${longName}_eq`]: '4' }, 'list'],
    [{ [`${longName}_not_eq`]: '4' }, 'flat nested'],
    [{ [`${longName}_null`]: '1' }, 'beginning beyond end'],
    [{ [`${longName}__eq`]: '1' }, ''],
    [{ [`constructor_${longName}_null`]: '0' }, ''],
  ],
}

/** Letters, wildcards, and characters beyond U+FFFF. */
const texts: FilterTable = {
  title: 'text',
  events: {
    sisyphus: { t: 'Σίσυφος' },
    kelvin: { t: '10 \u212A' },
    istanbul: { t: 'İstanbul' },
    street: { t: 'Hauptstraße' },
    percent: { t: '100% sure_thing' },
    backslash: { t: 'c:\\temp\\x' },
    smile: { t: '😀 up' },
    private: { t: '\uE000' },
    accents: { t: 'Ünïcödé' },
    quote: { t: `it's "quoted"; DROP TABLE x; --` },
    lines: { t: 'one\ntwo\tthree' },
  },
  queries: [
    [{ t_cont: 'ΣΊΣΥΦΟ' }, 'sisyphus'],
    [{ t_end: 'ΟΣ' }, ''],
    [{ t_end: 'ος' }, 'sisyphus'],
    [{ t_end: 'k' }, 'kelvin'],
    [{ t_cont: '\u212A' }, 'kelvin'],
    [{ t_cont: 'istanbul' }, ''],
    [{ t_start: 'İST' }, 'istanbul'],
    [{ t_cont: 'STRASSE' }, ''],
    [{ t_cont: 'STRAßE' }, 'street'],
    [{ t_cont: '0%' }, 'percent'],
    [{ t_cont: '_' }, 'percent'],
    [{ t_matches: '%\\%%' }, 'percent'],
    [{ t_matches: '___\\% sure\\_%' }, 'percent'],
    [{ t_cont: '\\' }, 'backslash'],
    [{ t_matches: '%\\\\temp%' }, 'backslash'],
    [{ t_matches: '_ up' }, 'smile'],
    [{ t_start: '😀' }, 'smile'],
    [{ t_gt: '\uF8FF' }, 'smile'],
    [{ t_eq: '\uE000' }, 'private'],
    [{ t_start: 'üNÏ' }, 'accents'],
    [{ t_eq: `it's "quoted"; DROP TABLE x; --` }, 'quote'],
    [{ t_cont: `"; drop` }, 'quote'],
    [{ t_cont: `"quoted"; drop` }, 'quote'],
    [{ t_eq: 'one\ntwo\tthree' }, 'lines'],
    [{ t_in: ['one\ntwo\tthree', '😀 up'] }, 'smile lines'],
    [{ t_matches: 'one%three' }, 'lines'],
    [{ t_eq: '\u0000' }, ''],
  ],
}

/** Texts that mean something to SQL, JSON paths, patterns, JavaScript or Unicode. */
export const hostileTexts: readonly string[] = [
  [`'`, `"`, `';--`, `"); DROP TABLE daybook_events; --`, `' OR '1'='1`, '?', '$1', ':a', '`'],
  ['__proto__', 'constructor', 'toString', '$', '$.a', '$."a"', '[0]', '{}', 'null', 'NaN'],
  ['%', '_', '\\', '\\%', '[a-z]', '*', '?*', '^', ']', '(a+)+$', '.*', '\u0000', 'a\u0000b'],
  ['Σίσυφος', 'ΣΊΣΥΦΟΣ', '\u212A', 'İ', 'ı', 'ß', 'ẞ', 'ﬁ', '😀', 'e\u0301', '\u202E', '\uFEFF'],
  ['\uD83D', '\uFFFD', '1e999', '-0', '2026-02-30', '9'.repeat(400)],
].flat()

/** Patterns that are slow in a backtracking matcher. */
export const longTexts: readonly string[] = [
  'x'.repeat(60_000),
  '%x'.repeat(30_000),
  '_'.repeat(60_000),
  '%_x'.repeat(20_000),
  `${'%x'.repeat(1000)}y`,
  '\\'.repeat(50_000),
  '%'.repeat(50_000),
  '[a]'.repeat(20_000),
]

export const filterTables: readonly FilterTable[] = [values, names, longNames, texts]

/** Values by label, and the order of the labels for each sort. */
export const sortTable: {
  readonly events: Readonly<Record<string, JsonObject>>
  readonly orders: readonly (readonly [sorts: string, labels: string])[]
} = {
  events: {
    b: { v: 'b' },
    B: { v: 'B' },
    ten: { v: 10 },
    two: { v: 2 },
    no: { v: false },
    none: {},
    list: { v: [1, 'z'] },
    smile: { v: '😀' },
    private: { v: '\uF8FF' },
    object: { v: { x: 1 } },
    twoAgain: { v: 2 },
  },
  orders: [
    ['v asc', 'no list two twoAgain ten B b private smile none object'],
    ['v desc', 'none object smile private list b B ten two twoAgain no'],
    ['type', 'B b list no none object private smile ten two twoAgain'],
    ['created_at', 'b B ten two no none list smile private object twoAgain'],
    ['created_at DESC', 'twoAgain object private smile list none no two ten B b'],
  ],
}
