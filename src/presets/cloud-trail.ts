import type { CustomTypeDefinition } from '../event/custom-types.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import {
  addressIn,
  objectIn,
  parsedIn,
  type Preset,
  type PresetEvent,
  textIn,
  timeIn,
  withFacts,
} from './preset.js'

/** An action of a service, with its sentences without a reason: English, German. */
type Row = readonly [action: string, en: string, de: string]

/** The place of a request parameter, as a name. */
const p = (name: string): string => `**{requestParameters_${name}}**`

/** Sentences of the most important actions. The sentences of other actions contain the name of the action. */
const ROWS: readonly Row[] = [
  ['signin:ConsoleLogin', 'signed in to the console', 'meldete sich an der Konsole an'],
  ['signin:SwitchRole', 'switched roles in the console', 'wechselte in der Konsole die Rolle'],
  ['sts:AssumeRole', `assumed role ${p('roleArn')}`, `nahm die Rolle ${p('roleArn')} an`],
  [
    'sts:GetCallerIdentity',
    'asked for the identity of the caller',
    'fragte die eigene Identität ab',
  ],
  ['iam:CreateUser', `created user ${p('userName')}`, `legte den Benutzer ${p('userName')} an`],
  ['iam:DeleteUser', `deleted user ${p('userName')}`, `löschte den Benutzer ${p('userName')}`],
  [
    'iam:CreateAccessKey',
    `created an access key[ for user ${p('userName')}]`,
    `erzeugte einen Zugriffsschlüssel[ für den Benutzer ${p('userName')}]`,
  ],
  [
    'iam:DeleteAccessKey',
    `deleted access key ${p('accessKeyId')}[ of user ${p('userName')}]`,
    `löschte den Zugriffsschlüssel ${p('accessKeyId')}[ des Benutzers ${p('userName')}]`,
  ],
  [
    'iam:CreateLoginProfile',
    `gave user ${p('userName')} a password`,
    `gab dem Benutzer ${p('userName')} ein Kennwort`,
  ],
  [
    'iam:AttachUserPolicy',
    `attached policy ${p('policyArn')} to user ${p('userName')}`,
    `wies dem Benutzer ${p('userName')} die Richtlinie ${p('policyArn')} zu`,
  ],
  [
    'iam:AttachRolePolicy',
    `attached policy ${p('policyArn')} to role ${p('roleName')}`,
    `wies der Rolle ${p('roleName')} die Richtlinie ${p('policyArn')} zu`,
  ],
  [
    'iam:PutUserPolicy',
    `set policy ${p('policyName')} of user ${p('userName')}`,
    `setzte die Richtlinie ${p('policyName')} des Benutzers ${p('userName')}`,
  ],
  [
    'iam:PutRolePolicy',
    `set policy ${p('policyName')} of role ${p('roleName')}`,
    `setzte die Richtlinie ${p('policyName')} der Rolle ${p('roleName')}`,
  ],
  ['iam:CreateRole', `created role ${p('roleName')}`, `legte die Rolle ${p('roleName')} an`],
  ['iam:DeleteRole', `deleted role ${p('roleName')}`, `löschte die Rolle ${p('roleName')}`],
  [
    'iam:UpdateAssumeRolePolicy',
    `changed who may assume role ${p('roleName')}`,
    `änderte, wer die Rolle ${p('roleName')} annehmen darf`,
  ],
  ['s3:ListBuckets', 'listed the buckets', 'rief die Liste der Buckets ab'],
  [
    's3:ListObjects',
    `listed the objects in bucket ${p('bucketName')}`,
    `rief die Objekte im Bucket ${p('bucketName')} ab`,
  ],
  [
    's3:GetObject',
    `read object ${p('key')} from bucket ${p('bucketName')}`,
    `las das Objekt ${p('key')} aus dem Bucket ${p('bucketName')}`,
  ],
  [
    's3:PutObject',
    `wrote object ${p('key')} to bucket ${p('bucketName')}`,
    `schrieb das Objekt ${p('key')} in den Bucket ${p('bucketName')}`,
  ],
  [
    's3:DeleteObject',
    `deleted object ${p('key')} from bucket ${p('bucketName')}`,
    `löschte das Objekt ${p('key')} aus dem Bucket ${p('bucketName')}`,
  ],
  [
    's3:CreateBucket',
    `created bucket ${p('bucketName')}`,
    `legte den Bucket ${p('bucketName')} an`,
  ],
  ['s3:DeleteBucket', `deleted bucket ${p('bucketName')}`, `löschte den Bucket ${p('bucketName')}`],
  [
    's3:PutBucketPolicy',
    `set the policy of bucket ${p('bucketName')}`,
    `setzte die Richtlinie des Buckets ${p('bucketName')}`,
  ],
  [
    's3:PutBucketAcl',
    `set the access list of bucket ${p('bucketName')}`,
    `setzte die Zugriffsliste des Buckets ${p('bucketName')}`,
  ],
  ['ec2:RunInstances', 'launched instances', 'startete neue Instanzen'],
  [
    'ec2:StartInstances',
    `started instances ${p('instancesSet_items_instanceId')}`,
    `startete die Instanzen ${p('instancesSet_items_instanceId')}`,
  ],
  [
    'ec2:StopInstances',
    `stopped instances ${p('instancesSet_items_instanceId')}`,
    `hielt die Instanzen ${p('instancesSet_items_instanceId')} an`,
  ],
  [
    'ec2:TerminateInstances',
    `terminated instances ${p('instancesSet_items_instanceId')}`,
    `beendete die Instanzen ${p('instancesSet_items_instanceId')} endgültig`,
  ],
  [
    'ec2:DescribeInstances',
    `looked up instances[ ${p('instancesSet_items_instanceId')}]`,
    `fragte Instanzen[ ${p('instancesSet_items_instanceId')}] ab`,
  ],
  [
    'ec2:AuthorizeSecurityGroupIngress',
    `opened incoming traffic in security group ${p('groupId')}`,
    `öffnete eingehenden Verkehr in der Sicherheitsgruppe ${p('groupId')}`,
  ],
  [
    'ec2:RevokeSecurityGroupIngress',
    `closed incoming traffic in security group ${p('groupId')}`,
    `schloss eingehenden Verkehr in der Sicherheitsgruppe ${p('groupId')}`,
  ],
  ['cloudtrail:StopLogging', `stopped trail ${p('name')}`, `hielt den Trail ${p('name')} an`],
  ['cloudtrail:StartLogging', `started trail ${p('name')}`, `startete den Trail ${p('name')}`],
  ['cloudtrail:DeleteTrail', `deleted trail ${p('name')}`, `löschte den Trail ${p('name')}`],
  [
    'kms:ScheduleKeyDeletion',
    `scheduled key ${p('keyId')} for deletion`,
    `merkte den Schlüssel ${p('keyId')} zum Löschen vor`,
  ],
  ['kms:DisableKey', `disabled key ${p('keyId')}`, `sperrte den Schlüssel ${p('keyId')}`],
  [
    'secretsmanager:GetSecretValue',
    `read secret ${p('secretId')}`,
    `las das Geheimnis ${p('secretId')}`,
  ],
]

/**
 * Templates of an action. The first template that fits applies: the failure, the sentence of the action, the name of
 * the action.
 */
const sentenceOf = (forms: readonly string[]): string => `[${forms.join('|')}][ ({awsRegion})]`

const EN = '**{eventName}**[ of {eventSource}]'
const DE = '**{eventName}**[ von {eventSource}]'
const FAILED = {
  en: `called ${EN} without success: {error}`,
  de: `rief ${DE} ohne Erfolg auf: {error}`,
}
const CALLED = { en: `called ${EN}`, de: `rief ${DE} auf` }

function definition(...own: readonly [en: string, de: string] | readonly []): CustomTypeDefinition {
  const [en, de] = own
  const forms = (language: 'en' | 'de', words: string | undefined): string =>
    sentenceOf([FAILED[language], ...(words === undefined ? [] : [words]), CALLED[language]])
  return {
    label: 'CloudTrail',
    sentence: forms('en', en),
    sentences: { de: forms('de', de) },
  }
}

const SERVICE = /^([\w-]+)\.amazonaws\.com$/

/** The name at the end of the ARN of a user or a session, after the path of the user or the role. */
const NAME_IN_ARN = /:(?:user|federated-user|assumed-role)\/(?:.*\/)?([^/]+)$/
/** The name of a session, after the id of the role or of the account that began it. */
const NAME_IN_PRINCIPAL = /^[^:]+:(.+)$/
/** The name of a session that a machine began. The role says more. */
const INSTANCE = /^i-[0-9a-f]{8,17}$/
/** Stands in records for a user name that may be a password typed into the wrong field. */
const HIDDEN = 'HIDDEN_DUE_TO_SECURITY_REASONS'

function nameIn(value: JsonValue | undefined, pattern: RegExp): string | undefined {
  const [, name] = pattern.exec(textIn(value) ?? '') ?? []
  return name === undefined || INSTANCE.test(name) ? undefined : name
}

/** The person, session or service that made the call. */
function usernameOf(identity: JsonObject): string | null {
  const { type, userName, invokedBy, arn, principalId, accountId } = identity
  if (type === 'Root') return 'root'
  const session = objectIn(identity['sessionContext'])
  const names = [
    // The person who took the first of several roles.
    textIn(session['sourceIdentity']),
    textIn(userName),
    nameIn(arn, NAME_IN_ARN),
    nameIn(principalId, NAME_IN_PRINCIPAL),
    textIn(objectIn(identity['onBehalfOf'])['userId']),
    textIn(objectIn(session['sessionIssuer'])['userName']),
    textIn(invokedBy),
    textIn(arn),
    textIn(principalId),
    textIn(accountId),
  ]
  const name = names.find((one) => one !== undefined) ?? null
  return name === HIDDEN ? null : name
}

function eventOf(given: JsonObject): PresetEvent | undefined {
  // `lookup-events` answers with the text of the record.
  const inner = parsedIn(given['CloudTrailEvent'])
  const record = Object.hasOwn(inner, 'eventName') ? inner : given
  const { eventSource, eventName } = record
  const [, service] = SERVICE.exec(textIn(eventSource) ?? '') ?? []
  if (service === undefined || typeof eventName !== 'string' || eventName === '') return undefined
  const { eventTime, eventID, errorMessage, errorCode, requestID, sourceIPAddress } = record
  return {
    type: `aws:${service}:${eventName}`,
    username: usernameOf(objectIn(record['userIdentity'])),
    data: withFacts(record, {
      occurred_at: timeIn(eventTime) ?? timeIn(record['@timestamp']),
      error: textIn(errorMessage) ?? textIn(errorCode),
      request_id: textIn(requestID),
      remote_address: addressIn(sourceIPAddress),
    }),
    key: textIn(eventID),
  }
}

/**
 * Records of AWS CloudTrail, as its log files have them in `Records` and `lookup-events` in `Events`. The type is `aws:<service>:<action>`, such as
 * `aws:s3:GetObject`. The user is the person or the service that made the call. Of an assumed role it is the name of the session, which is the
 * person's with single sign-on, or the source identity; the role stays in `userIdentity`.
 */
export const cloudTrail: Preset = {
  name: 'cloudtrail',
  customTypes: {
    'aws:*': definition(),
    ...Object.fromEntries(ROWS.map(([action, en, de]) => [`aws:${action}`, definition(en, de)])),
  },
  eventOf,
}
