import { timeoutSignal } from '../../src/async/timeout-signal.js'
import { readTextTemplate, type TextTemplate } from '../../src/describing/text-template.js'
import {
  type BatchLimits,
  type Channel,
  type DeliveryContext,
  DeliveryError,
} from '../../src/subscriptions/channel.js'
import { domainOf, type MailSender, readRecipients, readSender } from './mail-addresses.js'
import { mailFault } from './mail-fault.js'
import { mailText, oneLine, subjectOf } from './mail-text.js'
import {
  type MailMessage,
  type MailTransport,
  type MailTransportOption,
  openTransport,
  readMailResult,
} from './mail-transport.js'
import { checkDelivery, type Fail, invalidOption } from './read-options.js'
import { type Render, type RenderedText, renderText } from './render.js'
import { sentenceOf } from './sentences.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

export interface EmailOptions {
  /**
   * A transporter of nodemailer (7 or newer), or the argument of its `createTransport`. For the latter, the package
   * must be installed.
   */
  readonly transport: MailTransportOption
  /** `audit@acme.example`, or `Audit <audit@acme.example>`. */
  readonly from: string
  /** At most 50 addresses. Each recipient sees the others. */
  readonly to: string | readonly string[]
  /**
   * A template for the first event: `Deployment of {name} failed`, `[in {project_code}: ]{sentence}`. It has the
   * syntax of sentences of event types. @default the sentence of the first event
   */
  readonly subject?: string | undefined
  /** @default 50 events, 262144 bytes, and up to 1 minute of waiting for further events */
  readonly batch?: BatchLimits | undefined
  readonly rate?: Channel['rate']
  /** A text of your own. @default time and sentence of each event, as text and as HTML */
  readonly render?: Render | undefined
}

const EMAIL_OPTIONS: OptionNames<EmailOptions> = {
  transport: true,
  from: true,
  to: true,
  subject: true,
  batch: true,
  rate: true,
  render: true,
}

/** The options of an e-mail channel after they have been checked. */
export interface EmailSettings extends Pick<EmailOptions, 'batch' | 'rate' | 'render'> {
  readonly transport: MailTransport
  readonly from: MailSender
  readonly to: readonly string[]
  readonly subject: TextTemplate | undefined
}

const BATCH = { maxEvents: 50, maxBytes: 262_144, maxWait: { minutes: 1 } } as const
const TIMEOUT_MS = 60_000

/**
 * A channel that sends e-mails of sentences. The `Message-ID` is made of the events and the subscription. So an
 * e-mail that is sent again, after a failure or a crash, has the same `Message-ID`. Each e-mail is recorded as
 * `info:email:sent`, a failure as `error:email:send_failed`; if the server refuses only some recipients, both are
 * recorded. The cursor is stored after each e-mail. Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if nodemailer
 * is needed and is not installed.
 */
export function email(options: EmailOptions): Channel {
  requireOptions(options, EMAIL_OPTIONS, 'email')
  checkDelivery(options, 'email')
  const fail = invalidOption('email')
  const { batch, rate, render } = options
  return emailChannel({
    from: readSender(options.from, fail),
    to: readRecipients(options.to, fail),
    subject: readSubject(options.subject, fail),
    transport: openTransport(options.transport),
    batch,
    rate,
    render,
  })
}

export function readSubject(given: unknown, fail: Fail): TextTemplate | undefined {
  if (given === undefined) return undefined
  try {
    return readTextTemplate(given as string)
  } catch (error) {
    throw fail('subject', `is not a template: ${(error as Error).message}`)
  }
}

export function emailChannel(settings: EmailSettings): Channel {
  const { batch, rate, render = mailText } = settings
  return {
    kind: 'email',
    batch: { ...BATCH, ...batch },
    ...(rate && { rate }),
    checkpoint: 'each',
    async deliver(events, context) {
      const sentence = (event: (typeof events)[number]): string => sentenceOf(event, context.types)
      const rendered = await renderText(render, events, context)
      const own = oneLine(rendered.subject ?? '')
      const subject = own || subjectOf(settings.subject, events, { sentence })
      await sendAndReport(settings, { ...rendered, subject }, context)
    },
  }
}

/** Records the outcome of the e-mail. Rejects unless the server has accepted it for at least one recipient. */
async function sendAndReport(
  settings: EmailSettings,
  rendered: RenderedText & { readonly subject: string },
  context: DeliveryContext,
): Promise<void> {
  const { from, to } = settings
  const message = messageOf(settings, rendered, context)
  const about = { sender: from.address, subject: rendered.subject }
  try {
    const { messageId, accepted, rejected, rejectedCode } = await send(settings, message)
    const error = `the mail server responded with ${rejectedCode ?? 'an error'} to RCPT TO`
    if (accepted.length === 0) throw new DeliveryError('smtp', error)
    const message_id = messageId ?? message.messageId
    context.report('info:email:sent', { ...about, recipients: [...accepted], message_id })
    if (rejected.length === 0) return
    context.report('error:email:send_failed', { ...about, recipients: [...rejected], error })
  } catch (cause) {
    const fault = mailFault(cause)
    const data = { ...about, recipients: [...to], error: fault.message }
    context.report('error:email:send_failed', data)
    throw fault
  }
}

function messageOf(
  { from, to }: EmailSettings,
  { subject, text, html }: RenderedText & { readonly subject: string },
  { id, subscription }: DeliveryContext,
): Omit<MailMessage, 'signal'> {
  const domain = domainOf(from)
  return {
    from,
    to: [...to],
    subject,
    text,
    ...(html !== undefined && { html }),
    messageId: `<${id}.${subscription.id}@${domain}>`,
    headers: {
      // Prevents automatic replies, such as vacation replies: RFC 3834.
      'Auto-Submitted': 'auto-generated',
      'List-Id': `<${subscription.name}.daybook.${domain}>`,
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/**
 * Sends an e-mail with a separate time limit. Closing the log does not abort it, because the e-mail would be sent
 * again later; `close` waits for it for some seconds.
 */
async function send({ transport, to }: EmailSettings, message: Omit<MailMessage, 'signal'>) {
  using timeout = timeoutSignal(TIMEOUT_MS)
  const { signal } = timeout
  const ended = new Promise<never>((_, reject) => {
    const fault = new DeliveryError('timeout', 'the mail server did not accept the e-mail in time')
    signal.addEventListener('abort', () => reject(fault), { once: true })
  })
  const sent = await Promise.race([ended, transport.sendMail({ ...message, signal })])
  return readMailResult(sent, to)
}
