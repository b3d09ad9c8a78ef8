//! sprig's cryptography: keys, certificates, password hashes, AES. The names are always there; without the cargo
//! feature `crypto` calling one is an error that says so.

use crate::context::{Context, Failure};
use crate::function::{Cost, Function, Parameter, Purity};
use crate::value::Value;

#[cfg(feature = "crypto")]
mod certificates;
#[cfg(feature = "crypto")]
mod der;
#[cfg(feature = "crypto")]
mod keys;
#[cfg(feature = "crypto")]
mod passwords;

type Answer<'a> = Result<Value<'a>, Failure>;

#[cfg(feature = "crypto")]
use self::{
    certificates::{
        build_custom_cert, gen_ca, gen_ca_with_key, gen_self_signed, gen_self_signed_with_key, gen_signed,
        gen_signed_with_key,
    },
    keys::gen_private_key,
    passwords::{bcrypt_hash, decrypt_aes, derive_password, encrypt_aes, htpasswd},
};

#[cfg(not(feature = "crypto"))]
fn absent<'a>(_: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    Err(Failure::message("this build is without cryptography (cargo feature `crypto`)"))
}

#[cfg(not(feature = "crypto"))]
use self::{
    absent as bcrypt_hash, absent as build_custom_cert, absent as decrypt_aes, absent as derive_password,
    absent as encrypt_aes, absent as gen_ca, absent as gen_ca_with_key, absent as gen_private_key,
    absent as gen_self_signed, absent as gen_self_signed_with_key, absent as gen_signed,
    absent as gen_signed_with_key, absent as htpasswd,
};

use Parameter::{Certificate, Int, List, String as Text, Uint32};

const fn slow(
    name: &'static str,
    parameters: &'static [Parameter],
    body: for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Answer<'a>,
) -> Function {
    Function::pure(name, parameters, body).costs(Cost::Crypto).from(Purity::Random)
}

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    slow("genPrivateKey", &[Text], gen_private_key),
    slow("buildCustomCert", &[Text, Text], build_custom_cert).from(Purity::Pure),
    slow("genCA", &[Text, Int], gen_ca),
    slow("genSelfSignedCert", &[Text, List, List, Int], gen_self_signed),
    slow("genSignedCert", &[Text, List, List, Int, Certificate], gen_signed),
    slow("derivePassword", &[Uint32, Text, Text, Text, Text], derive_password).from(Purity::Pure),
    Function::pure("encryptAES", &[Text, Text], encrypt_aes).from(Purity::Random),
    Function::pure("decryptAES", &[Text, Text], decrypt_aes),
];

/// Since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    slow("bcrypt", &[Text], bcrypt_hash),
    slow("htpasswd", &[Text, Text], htpasswd),
    slow("genCAWithKey", &[Text, Int, Text], gen_ca_with_key),
    slow("genSelfSignedCertWithKey", &[Text, List, List, Int, Text], gen_self_signed_with_key),
    slow("genSignedCertWithKey", &[Text, List, List, Int, Certificate, Text], gen_signed_with_key),
];
