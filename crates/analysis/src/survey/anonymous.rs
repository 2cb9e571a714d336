use observations::Survey;

/// Takes out what names machines, servers, databases and places: each gets a number in the order of the
/// inventories.
pub fn anonymous(surveys: &mut [Survey]) {
    let mut servers = 0;
    for (index, survey) in surveys.iter_mut().enumerate() {
        survey.machine.host = Some(format!("machine {}", index + 1));
        // Volumes and messages tell of paths; nothing of them is compared between machines.
        survey.volumes.clear();
        survey.unread.clear();
        for server in &mut survey.servers {
            servers += 1;
            server.address = format!("server {servers}");
            server
                .databases
                .iter_mut()
                .zip(1..)
                .for_each(|(one, number)| one.name = format!("database {number}"));
            server.settings.iter_mut().for_each(|setting| setting.file = None);
        }
    }
}
