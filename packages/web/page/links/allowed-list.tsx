import { Clock, File, Files, HardDrive, type IconNode } from 'lucide'
import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import { formatMoment, formatSize } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { LinkTerms } from './link-terms.ts'

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
