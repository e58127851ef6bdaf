import type { JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import { isHoldfastError, type SignedLink } from '@holdfast/client/browser'
import { Clock, File, Files, HardDrive, type IconNode } from 'lucide'
import { makeLink, type Connection } from '../api/connection.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { formatSize, formatMoment } from '../i18n/format.ts'
import { language, t, plural } from '../i18n/language.ts'
import { ExpiryChoice, LinksNote, MadeLink } from './link-dialog.tsx'
import { linkOptionsOf, type UploadLinkForm, type LinkTerms } from './link-terms.ts'
import { Icon } from '../parts/icon.tsx'

/** In bytes; 0 for any size. */
const sizes = [0, 10e6, 100e6, 1e9, 10e9]

interface UploadLinkDialogProps {
  readonly connection: Connection
  /** Left out if links cannot be ended. */
  readonly onEndLinks: (() => void) | undefined
  readonly onClose: () => void
}

/** Makes a link by which others upload files, within limits that the user chooses, and copies it. */
export function UploadLinkDialog(props: UploadLinkDialogProps): JSX.Element {
  const { connection, onEndLinks, onClose } = props
  const [form, setForm] = useState<UploadLinkForm>({
    isPrefix: true,
    name: t('askPrefixDefault'),
    maxFiles: '20',
    maxSize: 0,
    expiresIn: 604_800,
  })
  const [made, setMade] = useState<{ readonly link: SignedLink; readonly allowed: Allowed }>()
  const [error, setError] = useState<string>()
  const change = (changed: Partial<UploadLinkForm>) => setForm({ ...form, ...changed })
  const make = async (event: Event) => {
    event.preventDefault()
    try {
      const link = await makeLink(connection, form.name, linkOptionsOf(form))
      setMade({ link, allowed: allowedBy(form, link) })
      setError(undefined)
    } catch (failure) {
      const isTaken = isHoldfastError(failure) && failure.status === 412
      setError(isTaken ? t('askNameTaken') : explainError(failure))
    }
  }
  return (
    <Dialog title={t('askTitle')} class="ask" onClose={onClose}>
      <p>{t('askLead')}</p>
      <form class="link-form" onSubmit={(event) => void make(event)} noValidate>
        <KindChoice
          isPrefix={form.isPrefix}
          onChoose={(isPrefix) => change({ isPrefix, name: isPrefix ? t('askPrefixDefault') : '' })}
        />
        <NameField form={form} onChange={(name) => change({ name })} />
        <div class="field-pair">
          {form.isPrefix && (
            <label class="field">
              <span>{t('askMaxFiles')}</span>
              <input
                inputMode="numeric"
                value={form.maxFiles}
                onInput={({ currentTarget }) => change({ maxFiles: currentTarget.value })}
              />
            </label>
          )}
          <label class="field">
            <span>{t('askMaxSize')}</span>
            <select
              value={form.maxSize}
              onChange={({ currentTarget }) => change({ maxSize: Number(currentTarget.value) })}
            >
              {sizes.map((size) => (
                <option key={size} value={size}>
                  {size === 0 ? t('anySize') : formatSize(size, language.value)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <ExpiryChoice seconds={form.expiresIn} onChoose={(expiresIn) => change({ expiresIn })} />
        <button type="submit" class="button button-main">
          {t('createLink')}
        </button>
        <p role="alert" class="form-error">
          {error}
        </p>
      </form>
      {made && (
        <MadeLink key={made.link.url} link={made.link}>
          <h3>{t('askAllows')}</h3>
          <AllowedList terms={made.allowed} />
        </MadeLink>
      )}
      <LinksNote onEndLinks={onEndLinks} />
    </Dialog>
  )
}

function allowedBy(
  { isPrefix, name, maxFiles, maxSize }: UploadLinkForm,
  link: SignedLink,
): Allowed {
  return {
    isPrefix,
    name,
    maxFiles: isPrefix ? Number(maxFiles) : 1,
    ...(maxSize > 0 && { maxSize }),
    expires: link.expires,
  }
}

interface KindChoiceProps {
  readonly isPrefix: boolean
  readonly onChoose: (isPrefix: boolean) => void
}

function KindChoice({ isPrefix, onChoose }: KindChoiceProps): JSX.Element {
  return (
    <fieldset class="segments">
      <legend>{t('askWhat')}</legend>
      {([true, false] as const).map((each) => (
        <label key={String(each)}>
          <input
            type="radio"
            name="kind"
            checked={isPrefix === each}
            onChange={() => onChoose(each)}
          />
          <span>{t(each ? 'askSeveral' : 'askOne')}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface NameFieldProps {
  readonly form: UploadLinkForm
  readonly onChange: (name: string) => void
}

function NameField({ form: { isPrefix, name }, onChange }: NameFieldProps): JSX.Element {
  const hint = useId()
  return (
    <div class="field-with-hint">
      <label class="field">
        <span>{t(isPrefix ? 'askPrefix' : 'askName')}</span>
        <input
          value={name}
          autocapitalize="none"
          spellcheck={false}
          {...(isPrefix && { 'aria-describedby': hint })}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      {isPrefix && <small id={hint}>{t('askPrefixHint')}</small>}
    </div>
  )
}

/** What a link to upload allows, and until when. */
export type Allowed = Pick<LinkTerms, 'name' | 'isPrefix' | 'maxFiles' | 'maxSize' | 'expires'>

/** A line for each bound of the link. */
export function AllowedList({ terms }: { readonly terms: Allowed }): JSX.Element {
  const { name, isPrefix, maxFiles, maxSize, expires } = terms
  return (
    <ul class="allowed">
      <Line icon={isPrefix ? Files : File}>
        {isPrefix
          ? `${plural('allowedFiles', maxFiles)} ${t('allowedPrefix', { name })}`
          : t('allowedName', { name })}
      </Line>
      {maxSize !== undefined && (
        <Line icon={HardDrive}>
          {t('allowedSize', { size: formatSize(maxSize, language.value) })}
        </Line>
      )}
      <Line icon={Clock}>{t('linkUntil', { date: formatMoment(expires, language.value) })}</Line>
    </ul>
  )
}

function Line({ icon, children }: { readonly icon: IconNode; readonly children: string }) {
  return (
    <li>
      <Icon of={icon} />
      <span>{children}</span>
    </li>
  )
}
