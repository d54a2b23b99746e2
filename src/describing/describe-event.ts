import type { AuditEvent } from '../event/event.js'
import type { CustomTypes } from '../event/custom-types.js'
import type { EventTypes } from '../event/event-types.js'
import { describeIn } from './describe-in.js'
import { english } from './english.js'
import type { SentenceLanguage } from './language.js'
import type { Sentence } from './sentence.js'
import { type SourceLabel, sourceLabelIn } from './source-label.js'
import { checkOptions, type OptionNames } from '../options.js'

export interface DescribeOptions {
  /** The registry of event types, `audit.types`. A type may have a `sentence` of its own. */
  readonly types?: EventTypes | undefined
  /** Labels and sentences of custom events: `audit.customTypes`. */
  readonly customTypes?: CustomTypes | undefined
  /**
   * True for an open live event: the sentence then includes its progress. The event itself does not
   * say whether it is open; the changes of a tail do.
   * @default false
   */
  readonly isOpen?: boolean | undefined
  /**
   * The language of the sentence, `english` or `german`. Names and values stay as they are.
   * @default english
   */
  readonly language?: SentenceLanguage | undefined
}

export const DESCRIBED_TYPES: OptionNames<DescribedTypes> = { types: true, customTypes: true }

const DESCRIBE_OPTIONS: OptionNames<DescribeOptions> = {
  ...DESCRIBED_TYPES,
  isOpen: true,
  language: true,
}

/** The event types and custom types of a log. */
export type DescribedTypes = Pick<DescribeOptions, 'types' | 'customTypes'>

/**
 * Describes the event in one readable line: by the sentence of its type in the registry, else by rules
 * over its type and attributes. Works for every event, whatever its attributes contain.
 */
export function describeEvent(event: AuditEvent, options: DescribeOptions = {}): Sentence {
  checkOptions(options, DESCRIBE_OPTIONS, 'describeEvent')
  return describeIn(event, { ...options, language: options.language ?? english })
}

/** Kind and name of the resource that an event relates to; `undefined` without one. */
export function sourceLabel(
  event: AuditEvent,
  options: Pick<DescribeOptions, 'language'> = {},
): SourceLabel | undefined {
  checkOptions(options, { language: true }, 'sourceLabel')
  return sourceLabelIn(options.language ?? english, event)
}
