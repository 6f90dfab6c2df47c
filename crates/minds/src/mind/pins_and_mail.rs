//! Reads pins and mail from elements of any kind that holds them.

use super::context::{MailItem, PinView};
use crate::element::{Content, MailStatus, Pin};

/// Returns the pins of an element in their order.
pub fn pins(content: &dyn Content) -> Vec<PinView> {
    let pins = content.pins().unwrap_or_default().iter();
    let view = |pin: &Pin| PinView {
        id: pin.id.clone(),
        author: pin.author.0.clone(),
        text: pin.text.clone(),
        up: pin.up.iter().cloned().collect(),
        down: pin.down.iter().cloned().collect(),
    };
    pins.map(view).collect()
}

/// Returns the open mail of an element: unread mail first, each group oldest first.
pub fn open_mail(content: &dyn Content) -> Vec<MailItem> {
    let (items, _) = content.mail().unwrap_or_default();
    let open = items.iter().filter(|mail| mail.status == MailStatus::Open).map(|mail| MailItem {
        id: mail.id.clone(),
        from: mail.from.clone(),
        subject: mail.subject.clone(),
        text: mail.text.clone(),
        read: mail.read.is_some(),
    });
    let mut mail: Vec<MailItem> = open.collect();
    mail.sort_by_key(|item| item.read);
    mail
}
